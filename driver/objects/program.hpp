// A program: its source or binary, and what its last build said.
#pragma once

#include "driver/objects/context.hpp"
#include "driver/objects/handle.hpp"
#include "farcl/base/bytes.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/base/kernel_info.hpp"
#include "farcl/protocol/ids.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace farcl::driver {

enum class ProgramKind { kSource, kBinary, kLinked };

/// What the last clBuildProgram, clCompileProgram or clLinkProgram said; the devices of a context are of one server, so all of a
/// program's devices share it.
struct BuildState {
  cl_build_status status = CL_BUILD_NONE;
  std::vector<Device*> devices; ///< those that it was for; the program's other devices have no build
  std::string options;
  std::string log;
  cl_program_binary_type binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  std::uint64_t binary_bytes = 0;
  std::shared_ptr<const ProgramInfo> info; ///< null: no executable
};

class Program : public Object<Program, _cl_program, 0x4641524c'50524f47> {
public:
  [[nodiscard]] Context& context() const noexcept { return *context_; }
  [[nodiscard]] ServerSession& session() const noexcept { return context_->session(); }
  [[nodiscard]] protocol::ProgramId id() const noexcept { return id_; }
  [[nodiscard]] const std::vector<Device*>& devices() const noexcept { return devices_; }
  [[nodiscard]] ProgramKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  [[nodiscard]] const ByteVector& binary() const noexcept { return binary_; }
  [[nodiscard]] Guarded<BuildState>& build() noexcept { return build_; }
  /// Kernels that exist; while there are any the program may not be built again.
  [[nodiscard]] std::atomic<std::uint32_t>& kernel_count() noexcept { return kernel_count_; }
  /// Called by whoever sends a build request that names the program: from then on the server has to hear of its release.
  void set_known_to_server() noexcept { known_to_server_.store(true, std::memory_order_relaxed); }

private:
  friend class Object;
  Program(Context& context, std::vector<Device*> devices, ProgramKind kind, std::string source, ByteVector binary);
  ~Program();

  Ref<Context> context_;
  const protocol::ProgramId id_;
  const std::vector<Device*> devices_;
  const ProgramKind kind_;
  const std::string source_;
  const ByteVector binary_;
  Guarded<BuildState> build_;
  std::atomic<std::uint32_t> kernel_count_{0};
  std::atomic<bool> known_to_server_{false};
};

} // namespace farcl::driver
