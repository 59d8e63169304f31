// Opening what the command line asks to listen on, and leaving no socket file behind.
#pragma once

#include "daemon/common/options.hpp"
#include "farcl/base/log.hpp"
#include "farcl/base/unique_fd.hpp"

#include <string>
#include <sys/types.h>
#include <vector>

namespace farcl::daemon {

struct ListeningSocket {
  UniqueFd fd;
  std::string address; ///< as POCL_REMOTE_SERVERS takes it: "127.0.0.1:32725", "unix:/run/farcl.sock"
};

class UnixSocketFile {
public:
  explicit UnixSocketFile(std::string path);
  UnixSocketFile(UnixSocketFile&& other) noexcept : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}
  UnixSocketFile& operator=(UnixSocketFile&&) = delete;
  /// Removes the file, unless somebody else's has taken its place.
  ~UnixSocketFile();

private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct Listening {
  std::vector<ListeningSocket> sockets;
  std::vector<UnixSocketFile> files;
  bool exposed = false; ///< other machines can reach it, and need no key
};

/// Refuses addresses that other machines can reach unless --keys or --insecure is given (kRefused: a wrong command line).
[[nodiscard]] Result<Listening> open_listening(const Options& options, const Logger& logger);

} // namespace farcl::daemon
