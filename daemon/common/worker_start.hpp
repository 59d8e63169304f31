// What a worker starts with. `farcld --worker` (daemon/supervisor/worker_main.cpp) takes it from its descriptors and its first
// control message and calls run_worker (daemon/worker/worker.hpp).
#pragma once

#include "daemon/common/worker_page.hpp"
#include "farcl/base/log.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/protocol/ids.hpp"
#include "farcl/protocol/limits.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace farcl::daemon {

/// The descriptors that a worker inherits beside 0, 1 (/dev/null) and 2 (the daemon's log); nothing else is open.
inline constexpr int kControlFd = 3;
inline constexpr int kCompileServiceFd = 4;
inline constexpr int kPageFd = 5;
inline constexpr int kPermitsFd = 6;

struct WorkerStart {
  UniqueFd control;               ///< Unix SOCK_SEQPACKET, blocking mode; its end of file means: exit at once
  UniqueFd compile_service;       ///< connected to farcl-kc
  WorkerPage* page = nullptr;     ///< never null
  SpinPermits* permits = nullptr; ///< never null
  std::uint32_t worker_number = 0;
  protocol::SessionId session{};
  std::array<std::uint8_t, 32> secret{};
  protocol::SessionLimits limits;
  std::string devices;       ///< "cpu" or "cpu,cpu": the --devices option, checked
  std::uint32_t spin_us = 0; ///< how long the session thread spins before it sleeps
  std::uint32_t cores = 1;   ///< that this daemon may use
  LogLevel log_level = LogLevel::kInfo;
  bool insecure = false; ///< for ServerInfo
};

} // namespace farcl::daemon
