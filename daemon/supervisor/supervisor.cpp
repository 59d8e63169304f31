#include "daemon/supervisor/supervisor.hpp"

#include "daemon/supervisor/compile_service.hpp"
#include "daemon/supervisor/event_loop.hpp"
#include "daemon/supervisor/hello_table.hpp"
#include "daemon/supervisor/listener.hpp"
#include "daemon/supervisor/listening.hpp"
#include "daemon/supervisor/sessions.hpp"
#include "daemon/supervisor/stdio_session.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace farcl::daemon {

namespace {
using namespace std::chrono_literals;

inline constexpr std::chrono::milliseconds kHelloTimeLimit{2000};
inline constexpr auto kShoutEvery = 1h;
inline constexpr rlim_t kDescriptors = 65536; ///< as many as the system grants up to this

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kDescriptors));
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return static_cast<std::uint32_t>(std::max(count, 1));
}

/// The signals that end the daemon, as a descriptor; blocked for everybody else. SIGPIPE is ignored.
Result<UniqueFd> take_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    ::sigaddset(&set, number);
  }
  UniqueFd fd(::sigprocmask(SIG_BLOCK, &set, nullptr) == 0 ? ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK) : -1);
  if (!fd) {
    return fail_errno(errno, "cannot take signals");
  }
  return fd;
}

class Supervisor {
public:
  Supervisor(const Options& options, EventLoop& loop, const Logger& logger, UniqueFd signals, Listening listening, KeyRing keys)
      : options_(options), loop_(loop), logger_(logger), stranger_log_(logger), listening_(std::move(listening)),
        signals_(std::move(signals)), gatekeeper_(std::move(keys)),
        compiler_(loop, logger, options, [this] { sessions_.replace_compile_service(); }),
        sessions_(loop, logger, stranger_log_, {options, usable_cores(), listening_.exposed}, compiler_, gatekeeper_,
                  {[this](bool well) { on_session_end(well); }, [this] { loop_.stop(); }}),
        hellos_(
            loop, kHelloTimeLimit, [this](HelloTable::Arrival arrival) { sessions_.take(std::move(arrival)); },
            [this](const Peer& peer, const char* why) {
              stranger_log_.write(LogLevel::kInfo, "a connection from " + peer.text + " was closed: " + why);
            }) {}

  Status start();
  int run();

private:
  Status start_listening();
  void announce() const;
  void shout_about_insecurity();
  void on_signal();
  void on_session_end(bool well);
  void end(const std::string& why);

  const Options& options_;
  EventLoop& loop_;
  const Logger& logger_;
  RateLimitedLog stranger_log_;
  Listening listening_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  UniqueFd signals_;
  Gatekeeper gatekeeper_;
  CompileService compiler_;
  Sessions sessions_;
  HelloTable hellos_;
  std::unique_ptr<StdioSession> stdio_;
  int exit_code_ = 0;
  bool ending_ = false;
};

Status Supervisor::start() {
  if (auto status = loop_.watch(signals_.get(), [this] { on_signal(); }); !status) {
    return status;
  }
  compiler_.start();
  if (auto status = sessions_.start(); !status) {
    return status;
  }
  if (options_.stdio) {
    stdio_ = std::make_unique<StdioSession>(
        loop_,
        [this](const protocol::HelloBytes& bytes, UniqueFd in, UniqueFd out) {
          return sessions_.open_on_pipes(bytes, "stdin", std::move(in), std::move(out));
        },
        [this](const std::string& failure) {
          logger_.error(failure);
          exit_code_ = kExitFailure;
          end("the session on stdin and stdout could not start");
        });
    return stdio_->start();
  }
  return start_listening();
}

Status Supervisor::start_listening() {
  for (ListeningSocket& socket : listening_.sockets) {
    listeners_.push_back(std::make_unique<Listener>(loop_, stranger_log_, std::move(socket.fd), [this](UniqueFd connection) {
      Peer peer = describe_peer(connection.get());
      hellos_.add(std::move(connection), std::move(peer));
    }));
    if (auto status = listeners_.back()->start(); !status) {
      return status;
    }
    logger_.info("listening on " + socket.address);
  }
  if (gatekeeper_.keys().is_used()) {
    logger_.info(std::to_string(gatekeeper_.keys().size()) + " keys from " + options_.keys_file);
  }
  shout_about_insecurity();
  announce();
  return {};
}

void Supervisor::announce() const {
  if (!options_.print_ports) {
    return;
  }
  for (const ListeningSocket& socket : listening_.sockets) {
    std::printf("%s\n", socket.address.c_str());
  }
  std::printf("ready\n");
  std::fflush(stdout);
}

void Supervisor::shout_about_insecurity() {
  if (!listening_.exposed) {
    return;
  }
  logger_.warn("INSECURE: every machine that reaches this one can run programs here, nothing checks who it is (--insecure)");
  loop_.run_after(kShoutEvery, [this] { shout_about_insecurity(); });
}

int Supervisor::run() {
  if (auto status = loop_.run(); !status) {
    logger_.error(status.error().message);
    return kExitFailure;
  }
  return exit_code_;
}

void Supervisor::on_signal() {
  signalfd_siginfo info{};
  if (::read(signals_.get(), &info, sizeof info) != sizeof info) {
    return;
  }
  if (info.ssi_signo == SIGHUP && gatekeeper_.keys().is_used() && !ending_) {
    return sessions_.reload_keys();
  }
  if (ending_) {
    loop_.stop(); // asked twice: at once. What is left dies with this process.
    return;
  }
  end(info.ssi_signo == SIGTERM ? "SIGTERM" : info.ssi_signo == SIGINT ? "SIGINT" : "SIGHUP");
}

void Supervisor::on_session_end(bool well) {
  if (options_.stdio && !ending_) {
    exit_code_ = well ? 0 : kExitFailure;
    end("its session has ended");
  }
}

void Supervisor::end(const std::string& why) {
  if (ending_) {
    return;
  }
  ending_ = true;
  logger_.info("farcld ends: " + why);
  listeners_.clear();
  listening_.files.clear();
  hellos_.clear();
  sessions_.end_all("the server was shut down");
  compiler_.stop();
}

int report(const Error& error) {
  std::fprintf(stderr, "farcld: %s\n", error.message.c_str());
  return error.code == ErrorCode::kRefused || error.code == ErrorCode::kInvalid ? kExitUsage : kExitFailure;
}
} // namespace

int run_supervisor(const Options& options) {
  const Logger logger("farcld", "supervisor", options.log_level);
  raise_descriptor_limit();
  auto loop = EventLoop::create();
  auto keys = options.keys_file.empty() ? Result<KeyRing>(KeyRing()) : KeyRing::open(options.keys_file);
  if (!keys) {
    return report(keys.error());
  }
  auto signals = take_signals(); // before there is a socket file, which whoever is ended has to take away again
  auto listening = signals ? open_listening(options, logger) : pass_on(std::move(signals));
  if (!loop || !listening) {
    return report(loop ? listening.error() : loop.error());
  }
  Supervisor supervisor(options, **loop, logger, std::move(*signals), std::move(*listening), std::move(*keys));
  if (auto status = supervisor.start(); !status) {
    return report(status.error());
  }
  return supervisor.run();
}

} // namespace farcl::daemon
