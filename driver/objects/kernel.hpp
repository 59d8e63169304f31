// A kernel and the values of its arguments, kept ready to be encoded.
#pragma once

#include "driver/objects/handle.hpp"
#include "driver/objects/program.hpp"
#include "farcl/base/kernel_info.hpp"
#include "farcl/protocol/message_list.hpp"

#include <cstdint>
#include <cstring>
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

  /// All arguments in order, encoded as EnqueueKernel carries them: setting one stores its bytes where they belong, so a launch costs
  /// one copy. As the specification says, a kernel's arguments are not to be set by one thread while another uses the kernel.
  [[nodiscard]] Encoded arguments() const noexcept { return {encoded_}; }
  /// Calls `use(BufferId)` for each argument that is a buffer.
  template <class Use>
  void for_each_buffer(Use&& use) const {
    for (const std::uint32_t place : buffer_places_) {
      protocol::BufferId buffer;
      std::memcpy(&buffer.value, encoded_.data() + place, sizeof buffer.value);
      if (buffer != protocol::BufferId{}) {
        use(buffer);
      }
    }
  }
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

  void store(std::uint32_t index, const void* bytes, std::size_t size);

  Ref<Program> program_;
  const std::shared_ptr<const ProgramInfo> info_;
  const std::uint32_t index_;
  ByteVector encoded_;                       ///< the arguments; never resized after construction
  std::vector<std::uint32_t> places_;        ///< of each argument's changing bytes in it
  std::vector<std::uint32_t> buffer_places_; ///< those of them that are buffers
  std::vector<bool> is_set_;
  std::uint32_t unset_count_ = 0;
  std::uint64_t local_argument_bytes_ = 0;
};

} // namespace farcl::driver
