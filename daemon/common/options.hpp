// farcld's command line.
#pragma once

#include "farcl/base/log.hpp"
#include "farcl/base/result.hpp"
#include "farcl/net/accept.hpp"
#include "farcl/protocol/limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farcl::daemon {

struct Options {
  std::vector<net::TcpListenAddress> listen;
  std::vector<net::UnixListenAddress> unix_sockets;
  bool default_listen = false; ///< `listen` is the default: an address that this machine lacks is no error
  bool insecure = false;
  std::string keys_file; ///< empty: no keys
  bool stdio = false;
  bool print_ports = false;
  std::string devices = "cpu";
  std::uint32_t max_sessions = 64;
  std::uint64_t session_memory_bytes = 0; ///< filled in by parse_options: 3/4 of the machine's memory
  std::uint32_t kernel_seconds = 0;       ///< 0: no limit
  std::uint32_t resume_seconds = 5;
  std::uint32_t build_seconds = 60;
  std::uint32_t spin_us = 50;
  std::string cache_folder; ///< filled in by parse_options
  std::string compiler;     ///< path of farcl-kc; filled in by parse_options, empty: not found
  LogLevel log_level = LogLevel::kInfo;

  [[nodiscard]] protocol::SessionLimits session_limits() const;
};

/// What the command line asks for: a server, or a text for stdout (--help, --version).
struct ParsedOptions {
  Options options;
  std::optional<std::string> text;
};

/// "127.0.0.1:0", "[::1]:32725", "localhost", ":32725" (every address).
[[nodiscard]] Result<net::TcpListenAddress> parse_listen_address(std::string_view text);
/// "PATH[,mode=0660][,group=NAME]".
[[nodiscard]] Result<net::UnixListenAddress> parse_unix_address(std::string_view text);
/// "127.0.0.1:32725", "[::1]:32725": as people write it in POCL_REMOTE_SERVERS.
[[nodiscard]] std::string to_text(const net::TcpListenAddress& address);

/// One sentence on failure, fit for "farcld: <sentence>" and exit code 2.
[[nodiscard]] Result<ParsedOptions> parse_options(int argc, const char* const* argv);

} // namespace farcl::daemon
