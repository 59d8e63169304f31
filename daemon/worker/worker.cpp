#include "daemon/worker/worker.hpp"

#include "daemon/backends/cpu/cpu_backend.hpp"
#include "daemon/common/control_messages.hpp"
#include "daemon/session/session.hpp"
#include "daemon/worker/fault_handler.hpp"
#include "daemon/worker/handshakes.hpp"
#include "farcl/base/config.hpp"
#include "farcl/base/trace.hpp"
#include "farcl/net/accept.hpp"

#include <algorithm>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace farcl::daemon {

namespace {

class PagePermit final : public SpinPermit {
public:
  PagePermit(SpinPermits* permits, std::uint32_t worker_number) : permits_(permits), worker_number_(worker_number) {}
  bool try_acquire() override {
    if (slot_ < 0) {
      slot_ = permits_->take(worker_number_);
    }
    return slot_ >= 0;
  }
  void release() override {
    if (slot_ >= 0) {
      permits_->give_back(std::exchange(slot_, -1), worker_number_);
    }
  }

private:
  SpinPermits* permits_;
  std::uint32_t worker_number_;
  int slot_ = -1;
};

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

CpuOptions cpu_options(const WorkerStart& start) {
  CpuOptions options;
  options.devices = 1 + static_cast<unsigned>(std::count(start.devices.begin(), start.devices.end(), ','));
  options.threads = std::max(1u, start.cores);
  options.memory_bytes = start.limits.memory_bytes;
  options.build_limit = std::chrono::seconds(std::max<std::uint64_t>(1, start.limits.build_seconds));
  options.page = start.page;
  return options;
}

SessionConfig session_config(const WorkerStart& start, CpuBackend& backend, SpinPermit* permit, const Logger* log) {
  SessionConfig config;
  config.parts.limits = start.limits;
  config.parts.devices = backend.devices();
  config.parts.host_name = host_name();
  config.parts.version = FARCL_VERSION_TEXT;
  config.parts.insecure = start.insecure;
  config.id = start.session;
  config.secret = start.secret;
  config.spin = std::chrono::microseconds(start.spin_us);
  config.permit = permit;
  config.heartbeat = &start.page->heartbeat;
  config.log = log;
  return config;
}

/// A Unix socket tells that the client is on this machine: only there can it take memory.
bool is_unix_socket(int socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

/// Everything that lives until the process leaves: kernels may run until then, so none of it is ever destroyed.
struct Worker {
  explicit Worker(WorkerStart from)
      : start(std::move(from)), log("farcld", "worker", start.log_level), permit(start.permits, start.worker_number),
        backend(std::move(start.compile_service), cpu_options(start)), session(session_config(start, backend, &permit, &log)) {}
  WorkerStart start;
  Logger log;
  PagePermit permit;
  CpuBackend backend;
  Session session;
  std::shared_ptr<SharedArena> arena; ///< made by the control thread; the session thread uses it
  Handshakes handshakes;

  void take(StartWorker, std::vector<UniqueFd>) {} // was the first message; a second one means nothing
  void take(EndSession message, std::vector<UniqueFd>) { session.end(std::move(message.sentence)); }
  void take(ReplaceCompileService, std::vector<UniqueFd> fds) {
    if (!fds.empty()) {
      backend.builder().replace(std::move(fds.front()));
    }
  }
  void take(AttachConnection message, std::vector<UniqueFd> fds);
  Result<net::TransportPtr> adopt(UniqueFd socket, bool shared_memory, Attachment& attachment);
  void attach(Result<net::TransportPtr> transport, Attachment attachment);
  void read_control();
};

/// With rings, and the session's memory for data, when the client takes them and they can be made; else the socket itself.
Result<net::TransportPtr> Worker::adopt(UniqueFd socket, bool shared_memory, Attachment& attachment) {
  if (shared_memory && is_unix_socket(socket.get())) {
    if (arena == nullptr) {
      if (auto made = SharedArena::create(start.limits.memory_bytes)) {
        arena = std::move(*made);
      }
    }
    if (auto rings = net::adopt_socket_with_rings(socket, arena != nullptr ? arena->fd() : -1)) {
      attachment.shared = arena;
      return rings;
    }
    log.warn("no shared memory for a client of this machine: data goes through its socket");
  }
  return net::adopt_socket(std::move(socket));
}

void Worker::take(AttachConnection message, std::vector<UniqueFd> fds) {
  Attachment attachment;
  attachment.version_min = message.version_min;
  attachment.version_max = message.version_max;
  attachment.resume = message.resume;
  attachment.received = message.received;
  attachment.resumable = message.resumable;
  attachment.stream = std::min(message.stream, protocol::kMaxBulkStreams);
  if (fds.size() == 2) {
    attach(net::adopt_pipes(std::move(fds[0]), std::move(fds[1])), std::move(attachment));
  } else if (fds.size() == 1 && message.encrypted) {
    auto later = std::make_shared<Attachment>(std::move(attachment));
    handshakes.start(std::move(fds[0]), net::Secret(message.one_time_key),
                     [this, later](Result<net::TransportPtr> transport) { attach(std::move(transport), std::move(*later)); });
  } else if (fds.size() == 1) {
    auto transport = adopt(std::move(fds[0]), message.shared_memory, attachment);
    attach(std::move(transport), std::move(attachment));
  }
}

/// The control thread, or that of a handshake.
void Worker::attach(Result<net::TransportPtr> transport, Attachment attachment) {
  if (!transport) {
    // Anybody can send a copy of a hello again, so that a further connection fails is no news.
    log.write(attachment.resume ? LogLevel::kDebug : LogLevel::kWarn, "a connection that cannot be used: " + transport.error().message);
    if (!attachment.resume) {
      session.end("its first connection could not be used");
    }
    return;
  }
  attachment.transport = std::move(*transport);
  start.page->set_state(WorkerState::kServing);
  session.attach(std::move(attachment));
}

/// The control thread. The end of the socket means that the supervisor is gone.
void Worker::read_control() {
  while (true) {
    auto packet = receive_control_packet(start.control.get());
    if (!packet || packet->bytes.empty()) {
      ::_exit(0);
    }
    auto message = decode_control<ToWorker>(packet->bytes);
    if (!message) {
      log.error(message.error().message);
      continue;
    }
    std::visit([&](auto& one) { take(std::move(one), std::move(packet->fds)); }, *message);
  }
}

} // namespace

int run_worker(WorkerStart start) {
  install_fault_handler(start.page);
  if (auto traced = start_trace(read_config().trace, "worker"); !traced) {
    Logger("farcld", "worker", start.log_level).warn(traced.error().message);
  }
  auto& worker = *std::make_unique<Worker>(std::move(start)).release(); // see Worker
  worker.start.page->set_state(WorkerState::kReady);
  std::thread([&worker] { worker.read_control(); }).detach();
  const SessionEnd end = worker.session.run();
  worker.start.page->set_state(WorkerState::kEnding);
  (void)send_to_supervisor(worker.start.control.get(), SessionEnded{end.reason.substr(0, protocol::kMaxSentenceBytes), end.failed});
  return 0;
}

} // namespace farcl::daemon
