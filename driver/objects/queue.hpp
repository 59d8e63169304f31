// A command queue. What it holds of commands in flight is a few counters: the commands themselves are on the server.
#pragma once

#include "driver/objects/context.hpp"
#include "driver/objects/handle.hpp"
#include "driver/session/placement.hpp"
#include "driver/validate/kernel.hpp"
#include "farcl/protocol/ids.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace farcl::driver {

class CommandQueue : public Object<CommandQueue, _cl_command_queue, 0x4641524c'51554555> {
public:
  [[nodiscard]] Context& context() const noexcept { return *context_; }
  [[nodiscard]] Device& device() const noexcept { return device_; }
  [[nodiscard]] ServerSession& session() const noexcept { return context_->session(); }
  [[nodiscard]] protocol::QueueId id() const noexcept { return id_; }
  [[nodiscard]] cl_command_queue_properties properties() const noexcept { return properties_; }
  /// As given to clCreateCommandQueueWithProperties, with the final 0; empty when it was null or the queue was made the old way.
  [[nodiscard]] const std::vector<cl_queue_properties>& properties_array() const noexcept { return properties_array_; }
  [[nodiscard]] bool out_of_order() const noexcept { return (properties_ & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0; }
  [[nodiscard]] bool profiling() const noexcept { return (properties_ & CL_QUEUE_PROFILING_ENABLE) != 0; }

  /// What a launch may ask of the device.
  [[nodiscard]] const validate::NdRangeLimits& limits() const noexcept { return limits_; }

  /// A failure that nobody could see, kept for the next clFinish or blocking call; reading it clears it.
  [[nodiscard]] cl_int take_hidden_failure() noexcept { return hidden_failure_.exchange(0, std::memory_order_acq_rel); }
  void add_hidden_failure(cl_int status) noexcept {
    if (status < 0) {
      hidden_failure_.store(status, std::memory_order_release);
    }
  }

private:
  friend class Object;
  friend class ServerSession; // counts commands under its state lock
  /// Tells the server; 0 round trips.
  CommandQueue(Context& context, Device& device, cl_command_queue_properties properties, std::vector<cl_queue_properties> properties_array);
  ~CommandQueue();

  Ref<Context> context_;
  Device& device_;
  const protocol::QueueId id_;
  const cl_command_queue_properties properties_;
  const std::vector<cl_queue_properties> properties_array_;
  const validate::NdRangeLimits limits_;
  std::atomic<cl_int> hidden_failure_{0};
  // The session's, under its state lock.
  const std::shared_ptr<QueueProgress> progress_ = std::make_shared<QueueProgress>();
  std::uint64_t commands_since_checkpoint_ = 0;
  std::uint64_t open_checkpoints_ = 0;
};

} // namespace farcl::driver
