// Talking to the compile service (farcl-kc) and running what it made. No LLVM here.
//
// Threads: a CompileConnection belongs to one thread at a time. The service works on all requests of all connections at
// once (up to its limit), so a connection may have many in flight; replies come in the order in which builds finish.
#pragma once

#include "farcl/base/kernel_info.hpp"
#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/kernel_compiler/kernel_abi.h"
#include "farcl/kernel_compiler/messages.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace farcl::kernel_compiler {

struct CompileReply {
  std::uint64_t request_id = 0;
  CompileReplyData data;
  UniqueFd shared_object; ///< valid if data.has_shared_object
};

/// One end of a connected stream Unix socket whose other end the service holds.
class CompileConnection {
public:
  explicit CompileConnection(UniqueFd socket);
  CompileConnection(CompileConnection&&) noexcept;
  CompileConnection& operator=(CompileConnection&&) noexcept;
  ~CompileConnection();

  /// For poll: readable means that receive() will not wait long.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  /// Sends one request and returns its id. Waits only while the service does not read, at most `limit`.
  Result<std::uint64_t> send(const CompileRequest& request, std::chrono::milliseconds limit = std::chrono::seconds(10));
  /// The next reply to any request, or nothing if `limit` passes first.
  Result<std::optional<CompileReply>> receive(std::chrono::milliseconds limit);
  /// send() and receive() of that one reply; kTimeout after `limit`. Replies to other requests are kept for receive().
  Result<CompileReply> compile(const CompileRequest& request, std::chrono::milliseconds limit = std::chrono::minutes(5));

private:
  struct State;
  Result<std::optional<CompileReply>> receive_new(std::chrono::steady_clock::time_point deadline);

  UniqueFd socket_;
  std::unique_ptr<State> state_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, CompileReply> early_; ///< replies that compile() met while it waited for another
};

/// Gives the service a new connection over its control socket (called by whoever holds that: the daemon).
Status hand_over_connection(int control_socket, UniqueFd connection);

/// A loaded shared object; its kernels can be called as long as it lives.
class LoadedProgram {
public:
  /// Takes a descriptor from CompileReply::shared_object. Refuses objects of another kernel ABI.
  static Result<LoadedProgram> load(UniqueFd shared_object);
  LoadedProgram(LoadedProgram&&) noexcept = default;
  LoadedProgram& operator=(LoadedProgram&&) noexcept = default;
  ~LoadedProgram() = default;

  /// Null if there is no such kernel.
  [[nodiscard]] FarclKernelFunction find(const std::string& kernel_name) const;

private:
  struct CloseHandle {
    void operator()(void* handle) const noexcept;
  };
  explicit LoadedProgram(void* handle) : handle_(handle) {}
  std::unique_ptr<void, CloseHandle> handle_;
};

} // namespace farcl::kernel_compiler
