// A kernel and the values of its arguments, kept ready to be encoded.
#pragma once

#include "driver/objects/handle.hpp"
#include "driver/objects/program.hpp"
#include "farcl/base/kernel_info.hpp"
#include "farcl/protocol/message_list.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace farcl::driver {

class Kernel : public Object<Kernel, _cl_kernel, 0x4641524c'4b45524e> {
public:
  [[nodiscard]] Program& program() const noexcept { return *program_; }
  [[nodiscard]] Context& context() const noexcept { return program_->context(); }
  [[nodiscard]] ServerSession& session() const noexcept { return program_->session(); }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] const KernelInfo& info() const noexcept { return info_->kernels[index_]; }

  /// All arguments in order, as EnqueueKernel carries them. Values are views of this kernel's memory: encode them before the call
  /// returns. As the specification says, a kernel's arguments are not to be set by one thread while another uses the kernel.
  [[nodiscard]] const std::vector<protocol::KernelArgument>& arguments() const noexcept { return arguments_; }
  [[nodiscard]] bool all_arguments_set() const noexcept { return unset_count_ == 0; }
  /// Bytes of __local memory that the set arguments ask for.
  [[nodiscard]] std::uint64_t local_argument_bytes() const noexcept { return local_argument_bytes_; }

  // The index and the argument have been validated by clSetKernelArg.
  void set_value(std::uint32_t index, ConstBytes value);
  void set_buffer(std::uint32_t index, protocol::BufferId buffer);
  void set_local(std::uint32_t index, std::uint64_t size_bytes);

private:
  friend class Object;
  Kernel(Program& program, std::shared_ptr<const ProgramInfo> info, std::uint32_t index);
  Kernel(const Kernel& other); ///< clCloneKernel
  ~Kernel();

  void mark_set(std::uint32_t index);
  void point_values_at_storage(); ///< after the storage has been made or copied

  Ref<Program> program_;
  const std::shared_ptr<const ProgramInfo> info_;
  const std::uint32_t index_;
  std::vector<protocol::KernelArgument> arguments_;
  std::vector<bool> is_set_;
  std::vector<std::uint32_t> value_offsets_; ///< of each argument in value_storage_
  ByteVector value_storage_;                 ///< never resized after construction
  std::uint32_t unset_count_ = 0;
  std::uint64_t local_argument_bytes_ = 0;
};

} // namespace farcl::driver
