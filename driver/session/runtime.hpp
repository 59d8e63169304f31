// What there is once per process: the options, the platform, the sessions.
//
// Made at the first use and never destroyed (the program may use OpenCL while it exits). fork(): the child closes the connections and
// gets errors for everything that would need one.
#pragma once

#include "driver/objects/platform.hpp"
#include "farcl/base/config.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/net/connect.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace farcl::driver {

class ServerSession;

/// Makes the way to one server. The default is net::connect; tests put loopback transports here.
using ConnectorFactory = std::function<net::Connector(const net::ServerAddress& address, const Config& config)>;

class Runtime {
public:
  static Runtime& instance();

  /// The platform. Connects to all servers at the first call (later ones wait for it and get the same answer). Null: no server is
  /// named or none answered.
  [[nodiscard]] Platform* platform();

  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] std::vector<ServerSession*> sessions();

  /// Tests only: forgets platform and sessions (their threads and objects leak), then uses these from the next platform() on.
  void reset_for_tests(Config config, ConnectorFactory factory);

private:
  Runtime();
  struct State {
    bool connected = false;
    std::vector<ServerSession*> sessions;
  };
  void connect_all(State& state);
  void add_devices(State& state, Platform& platform, std::unique_ptr<ServerSession> session, const net::ServerAddress& address,
                   bool name_the_server);

  Config config_;
  ConnectorFactory factory_;
  Guarded<State> state_;
  std::atomic<Platform*> platform_{nullptr}; ///< set under the lock; a forked child looks without it
};

/// Called when the process exits: tells the servers, without waiting, that nobody will come back.
void announce_exit() noexcept;

/// True in a child process after fork() when the parent had connections: everything fails there, nothing may take a lock.
[[nodiscard]] bool in_forked_child() noexcept;

/// The one warning per server: "FarCL: <sentence>" on stderr.
void warn_user(const std::string& sentence);

} // namespace farcl::driver
