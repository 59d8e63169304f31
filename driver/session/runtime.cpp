#include "driver/session/runtime.hpp"

#include "driver/objects/device.hpp"
#include "driver/session/session.hpp"
#include "driver/session/thread.hpp"
#include "farcl/base/trace.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <optional>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace farcl::driver {

namespace {
std::atomic<bool> forked_child{false};

// What the fork handler walks over: it may take no lock, so sessions are only ever added, under Runtime's lock.
constexpr std::size_t kMaxSessions = 4 * net::kMaxServers;
std::atomic<ServerSession*> all_sessions[kMaxSessions];
std::atomic<std::size_t> session_count{0};

void after_fork_in_child() {
  const std::size_t count = session_count.load(std::memory_order_acquire);
  if (count == 0) {
    return; // nothing was connected: the child may start on its own
  }
  forked_child.store(true, std::memory_order_release);
  for (std::size_t i = 0; i < count; ++i) {
    all_sessions[i].load(std::memory_order_acquire)->abandon_in_child();
  }
}

net::Connector default_connector(const net::ServerAddress& address, const Config& config) {
  // The key is read once: a session stays with the one that it began with.
  auto options = net::connect_options(config, address);
  if (!options) {
    return [error = std::move(options).error()](const protocol::Hello&) -> Result<net::Connection> { return tl::unexpected<Error>(error); };
  }
  return [address, options = std::move(*options)](const protocol::Hello& hello) { return net::connect(address, hello, options); };
}

/// Names of this machine: devices behind them need no " @ host" as long as there is one server.
bool is_local(const net::ServerAddress& address) {
  return address.scheme == net::Scheme::kUnix ||
         (address.scheme == net::Scheme::kTcp &&
          (address.host == "localhost" || address.host == "::1" || address.host.starts_with("127.")));
}

struct Attempt {
  net::ServerAddress address;
  Result<std::unique_ptr<ServerSession>> session = fail(ErrorCode::kInternal, "no attempt");
};

void attempt_to_connect(Attempt& attempt, const Config& config, const ConnectorFactory& factory, Clock::time_point deadline) {
  try {
    SessionOptions options;
    options.name = attempt.address.text;
    options.connector = factory(attempt.address, config);
    options.can_resume = attempt.address.scheme != net::Scheme::kSsh;
    options.bulk_streams = attempt.address.scheme == net::Scheme::kTcp ? static_cast<unsigned>(config.bulk_streams) : 0;
    options.resume = std::chrono::seconds(config.resume_seconds);
    options.spin = std::chrono::microseconds(config.spin_us);
    options.log_level = parse_log_level(config.log, LogLevel::kOff);
    attempt.session = ServerSession::start(std::move(options), deadline);
  } catch (const std::exception& failure) {
    attempt.session = fail(ErrorCode::kOutOfMemory, failure.what());
  }
}
} // namespace

bool in_forked_child() noexcept { return forked_child.load(std::memory_order_acquire); }

void announce_exit() noexcept {
  if (in_forked_child()) {
    return;
  }
  const std::size_t count = session_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    all_sessions[i].load(std::memory_order_acquire)->announce_exit();
  }
}

void warn_user(const std::string& sentence) {
  // One write, so that lines of several processes do not mix.
  const std::string line = "FarCL: " + sentence + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

Runtime::Runtime() : config_(read_config()), factory_(default_connector) { (void)::pthread_atfork(nullptr, nullptr, after_fork_in_child); }

Runtime& Runtime::instance() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Platform* Runtime::platform() {
  if (in_forked_child()) {
    return platform_.load(std::memory_order_acquire);
  }
  auto state = state_.lock();
  if (!state->connected) {
    connect_all(*state);
    state->connected = true;
  }
  return platform_.load(std::memory_order_relaxed);
}

std::vector<ServerSession*> Runtime::sessions() { return state_.lock()->sessions; }

void Runtime::reset_for_tests(Config config, ConnectorFactory factory) {
  auto state = state_.lock();
  config_ = std::move(config);
  factory_ = std::move(factory);
  state->connected = false;
  state->sessions.clear();
  platform_.store(nullptr, std::memory_order_release);
}

void Runtime::connect_all(State& state) {
  if (config_.servers.empty()) {
    return;
  }
  for (const std::string& complaint : config_.complaints) {
    warn_user(complaint);
  }
  const net::ServerList list = net::parse_server_list(config_.servers);
  for (const std::string& complaint : list.complaints) {
    warn_user(complaint);
  }
  std::vector<Attempt> attempts;
  for (const net::ServerAddress& address : list.servers) {
    attempts.push_back({address});
  }
  if (auto traced = start_trace(config_.trace, "client"); !traced) {
    warn_user(traced.error().message);
  }
  const auto deadline = Clock::now() + std::chrono::milliseconds(config_.connect_timeout_ms);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < attempts.size(); ++i) {
    threads.push_back(start_thread("farcl-connect", [&, i] { attempt_to_connect(attempts[i], config_, factory_, deadline); }));
  }
  if (!attempts.empty()) {
    attempt_to_connect(attempts[0], config_, factory_, deadline);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Platform* platform = nullptr;
  for (Attempt& attempt : attempts) {
    if (!attempt.session) {
      warn_user("server " + attempt.address.text + ": " + attempt.session.error().message);
      continue;
    }
    if ((*attempt.session)->server_info().insecure) {
      warn_user("server " + attempt.address.text +
                " is INSECURE: anybody who reaches it can run code there, and read what passes on the way");
    }
    if (platform == nullptr) {
      platform = Platform::create();
    }
    add_devices(state, *platform, std::move(*attempt.session), attempt.address, attempts.size() > 1 || !is_local(attempt.address));
  }
  if (platform != nullptr && platform->devices_.empty()) {
    platform = nullptr;
  }
  platform_.store(platform, std::memory_order_release);
}

void Runtime::add_devices(State& state, Platform& platform, std::unique_ptr<ServerSession> session, const net::ServerAddress& address,
                          bool name_the_server) {
  const std::size_t index = session_count.load(std::memory_order_relaxed);
  if (index == kMaxSessions) {
    warn_user("server " + address.text + ": too many servers");
    (void)session.release(); // its thread refers to it
    return;
  }
  const auto& devices = session->server_info().devices;
  if (address.device && *address.device >= devices.size()) {
    warn_user("server " + address.text + ": it has " + std::to_string(devices.size()) + " devices, numbered from 0");
  }
  const std::string suffix = name_the_server ? " @ " + address.text : "";
  for (std::uint32_t i = 0; i < devices.size(); ++i) {
    if (!address.device || *address.device == i) {
      platform.devices_.push_back(Device::create(platform, *session, i, devices[i], suffix));
    }
  }
  state.sessions.push_back(session.get());
  all_sessions[index].store(session.release(), std::memory_order_release); // lives for ever
  session_count.store(index + 1, std::memory_order_release);
}

} // namespace farcl::driver
