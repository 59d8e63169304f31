// Handlers: what each message of a client does. One file per family of messages.
//
// A failure that belongs to a command becomes that command's status; one that belongs to a buffer fails the buffer. What no
// honest client sends (unknown or reused ids, lists and sizes beyond the limits it was told) is returned as an Error and ends
// the session: nobody but its own client is hurt.
#pragma once

#include "daemon/session/state.hpp"
#include "farcl/protocol/dispatch.hpp"

namespace farcl::daemon {

class Handlers {
public:
  explicit Handlers(SessionState& state) : state_(state) {}

  // session.cpp
  Status handle(protocol::Goodbye&&);
  Status handle(protocol::Leaving&&);
  Status handle(protocol::CreateContext&& message);
  Status handle(protocol::CreateQueue&& message);
  Status handle(protocol::ReleaseObject&& message);
  Status handle(protocol::ReleaseEvents&& message);
  Status handle(protocol::CreateUserEvent&& message);
  Status handle(protocol::SetUserEventStatus&& message);
  // memory.cpp
  Status handle(protocol::CreateBuffer&& message);
  Status handle(protocol::CreateSubBuffer&& message);
  // program.cpp
  Status handle(protocol::BuildProgram&& message);
  Status handle(protocol::GetProgramBinary&& message);
  void on_built(BuildArrival arrival);
  // enqueue.cpp, launch.cpp
  Status handle(protocol::EnqueueKernel&& message);
  Status handle(protocol::EnqueueRead&& message);
  Status handle(protocol::EnqueueWrite&& message);
  Status handle(protocol::EnqueueCopy&& message);
  Status handle(protocol::EnqueueFill&& message);
  Status handle(protocol::EnqueueMarker&& message);
  Status handle(protocol::Finish&& message);

  Status dispatch(protocol::Opcode opcode, ConstBytes payload) {
    return protocol::Dispatcher<protocol::ClientMessages, Handlers>::dispatch(*this, opcode, payload);
  }

  /// Launches are decoded into the same value again and again.
  protocol::EnqueueKernel& recycled(std::type_identity<protocol::EnqueueKernel>) noexcept { return launch_; }

private:
  [[nodiscard]] Status check_object_limit() const;
  // memory.cpp
  [[nodiscard]] std::shared_ptr<Buffer> new_buffer(const protocol::CreateBuffer& message, std::string& why);
  void fail_buffer(protocol::BufferId id, Buffer& buffer, cl_int status, std::string sentence);
  // program.cpp
  Result<BuildRequest> make_request(const protocol::BuildProgram& message, const ProgramBuilder& builder, cl_int& status);
  void finish_build(PendingBuild build);
  // enqueue.cpp
  [[nodiscard]] Result<Command*> new_command(const protocol::CommandHeader& header);
  [[nodiscard]] Status enter(Command& command, const protocol::CommandHeader& header, Ordering ordering = Ordering::kPlain,
                             bool barrier = false);
  /// The buffer a command uses, checked and kept; null if the command has failed by it.
  [[nodiscard]] Buffer* use_buffer(Command& command, protocol::BufferId id);
  /// Copies small data of a command into it, counted against the staging budget when it is not tiny.
  bool keep_bytes(Command& command, ConstBytes bytes);
  // launch.cpp
  void set_up_launch(Command& command, const protocol::EnqueueKernel& message);
  bool set_up_arguments(Command& command, const protocol::EnqueueKernel& message, const KernelInfo& info);
  cl_int set_up_argument(Command& command, const protocol::KernelArgument& argument, const ArgumentInfo& info, std::size_t& value_bytes);

  SessionState& state_;
  protocol::EnqueueKernel launch_;
};

} // namespace farcl::daemon
