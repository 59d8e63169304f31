// DeviceCommand: what a device can be asked to do, as values.
//
// Ownership: a command refers to memory, kernels, argument bytes and host spans without owning them. Whoever submits it keeps
// all of them alive and unchanged until the command's completion has been delivered.
#pragma once

#include "daemon/device/opencl.hpp"
#include "farcl/base/bytes.hpp"
#include "farcl/base/kernel_info.hpp"
#include "farcl/protocol/messages/enqueue.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>

namespace farcl::daemon {

/// A block of a device's memory; freed by its destructor. Blocks start as zeros.
class Memory {
public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;
  [[nodiscard]] virtual std::uint64_t size_bytes() const noexcept = 0;
  /// Where this process reaches the bytes, null for devices whose memory it cannot reach.
  [[nodiscard]] virtual std::byte* host_pointer() const noexcept = 0;
};
using MemoryPtr = std::shared_ptr<Memory>;

/// A place inside a block: the start of a buffer or sub-buffer.
struct MemoryPlace {
  Memory* memory = nullptr; ///< null: OpenCL's null pointer (arguments only)
  std::uint64_t offset = 0;
};

/// One kernel of a built program, as a device runs it. Lives as long as its DeviceProgram.
class DeviceKernel {
public:
  explicit DeviceKernel(const KernelInfo& info) : info_(&info) {}
  virtual ~DeviceKernel() = default;
  [[nodiscard]] const KernelInfo& info() const noexcept { return *info_; }

private:
  const KernelInfo* info_;
};

/// A built program of one builder. `kernel(i)` belongs to ProgramInfo::kernels[i].
class DeviceProgram {
public:
  virtual ~DeviceProgram() = default;
  [[nodiscard]] virtual const DeviceKernel* kernel(std::size_t index) const noexcept = 0;
};

struct LaunchArgument {
  ArgumentKind kind = ArgumentKind::kValue;
  std::uint32_t value_offset = 0; ///< kValue: into Launch::values, aligned for its type
  std::uint64_t size_bytes = 0;   ///< kValue: of the value; kLocal: of the memory
  MemoryPlace place;              ///< kGlobal, kConstant
};

struct NdRange {
  std::uint32_t work_dim = 1;
  std::array<std::uint64_t, 3> global_offset{};
  std::array<std::uint64_t, 3> global_size{1, 1, 1};
  std::array<std::uint64_t, 3> local_size{}; ///< zeros: the device chooses
  friend bool operator==(const NdRange&, const NdRange&) = default;
};

struct Launch {
  const DeviceKernel* kernel = nullptr;
  NdRange range;
  std::span<const LaunchArgument> arguments;
  const std::byte* values = nullptr;
};

struct Copy {
  MemoryPlace source;
  MemoryPlace destination;
  protocol::BufferRect source_rect;
  protocol::BufferRect destination_rect;
};

struct Fill {
  MemoryPlace destination;
  std::uint64_t size_bytes = 0;
  ConstBytes pattern;
};

/// Bytes [skip, skip + into.size()) of the box, whose rows are thought to stand without gaps, to `into`.
struct Read {
  MemoryPlace source;
  protocol::BufferRect rect;
  std::uint64_t skip_bytes = 0;
  MutableBytes into;
};

struct Write {
  MemoryPlace destination;
  protocol::BufferRect rect;
  ConstBytes from; ///< the whole box
};

using DeviceCommand = std::variant<Launch, Copy, Fill, Read, Write>;

} // namespace farcl::daemon
