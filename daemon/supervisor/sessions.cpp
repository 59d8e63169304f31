#include "daemon/supervisor/sessions.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sys/socket.h>

namespace farcl::daemon {

namespace {
using namespace std::chrono_literals;

inline constexpr auto kEndGrace = 2s;        ///< between "end, please" and the kill when the daemon ends
inline constexpr auto kLookEvery = 250ms;    ///< at the workers' pages, while there are sessions
inline constexpr auto kEndingGrace = 4s;     ///< for a session that is over; with kLookEvery it is gone within 5 s
inline constexpr auto kControlEofGrace = 1s; ///< a worker that closed its control channel is about to exit, or broken
inline constexpr auto kRefillDelay = 20ms;   ///< lets the session that took the reserve start undisturbed
inline constexpr auto kFirstReservePause = 500ms;
inline constexpr EventLoop::Clock::duration kLongestReservePause = 30s;
inline constexpr auto kRememberTheDead = 60s; ///< beyond the resume time
inline constexpr auto kResumeDelay = 5ms;
inline constexpr std::size_t kParkedPerWorker = 8;
inline constexpr std::string_view kObituaryEnd = "; the session was ended";

bool is_new(const protocol::Hello& hello) { return hello.session == protocol::SessionId{}; }

AttachConnection attach_message(const protocol::Hello& hello, std::uint64_t session_number) {
  AttachConnection message;
  message.session_number = session_number;
  message.version_min = hello.version_min;
  message.version_max = hello.version_max;
  message.resume = !is_new(hello);
  message.received = hello.received;
  message.stream = hello.stream_number;
  message.shared_memory = (hello.capabilities & protocol::kTakesSharedMemory) != 0;
  return message;
}

std::uint32_t spin_permits(std::uint32_t cores) {
  return std::clamp<std::uint32_t>(cores - std::min(cores, 1u), 1, static_cast<std::uint32_t>(kMaxSpinPermits));
}

std::string name_of(const WorkerProcess& worker) { return "session " + std::to_string(worker.session_number) + " of " + worker.peer; }
} // namespace

Sessions::Sessions(EventLoop& loop, const Logger& logger, RateLimitedLog& stranger_log, const WorkerSettings& settings,
                   CompileService& compiler, Hooks hooks)
    : loop_(loop), logger_(logger), stranger_log_(stranger_log), settings_(settings), compiler_(compiler), hooks_(std::move(hooks)),
      obituaries_(std::chrono::seconds(settings.options.resume_seconds) + kRememberTheDead) {}

Sessions::~Sessions() {
  loop_.cancel(refill_timer_);
  loop_.cancel(look_timer_);
  loop_.cancel(kill_timer_);
  for (const auto& [number, worker] : workers_) {
    loop_.forget(worker->control_fd());
    loop_.forget(worker->process().pid_fd());
  }
}

Status Sessions::start() {
  auto permits = SharedPage<SpinPermits>::create("farcl-permits");
  if (!permits) {
    return pass_on(std::move(permits));
  }
  permits_ = std::move(*permits);
  permits_.memory->count.store(spin_permits(settings_.cores), std::memory_order_relaxed);
  auto worker = start_worker();
  if (!worker) {
    return pass_on(std::move(worker));
  }
  reserve_ = *worker;
  return {};
}

// --- connections ------------------------------------------------------------------------------------------------------

void Sessions::take(HelloTable::Arrival arrival) {
  const auto hello = protocol::decode_hello(arrival.bytes);
  if (!hello) {
    return refuse(arrival, protocol::HelloStatus::kRefused, "the hello makes no sense: " + hello.error().message);
  }
  if (hello->version_min > protocol::kVersion || hello->version_max < protocol::kVersion) {
    return refuse(arrival, protocol::HelloStatus::kBadVersion,
                  "this server speaks version " + std::to_string(protocol::kVersion) + " of FarCL's protocol, the client " +
                      std::to_string(hello->version_min) + " to " + std::to_string(hello->version_max));
  }
  if (ending_) {
    return refuse(arrival, protocol::HelloStatus::kRefused, "the server is about to end");
  }
  is_new(*hello) ? open(arrival, *hello) : resume(arrival, *hello);
}

void Sessions::refuse(const HelloTable::Arrival& arrival, protocol::HelloStatus status, std::string text) {
  protocol::HelloReply reply;
  reply.status = status;
  reply.text = std::move(text);
  if (status != protocol::HelloStatus::kObituary) { // an obituary has had its line when the worker died
    stranger_log_.write(LogLevel::kInfo, "refused " + arrival.peer.text + ": " + reply.text);
  }
  const auto bytes = protocol::encode_hello_reply(reply);
  // A fresh connection has room for so little; if not, closing says enough.
  static_cast<void>(::send(arrival.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

void Sessions::open(HelloTable::Arrival& arrival, const protocol::Hello& hello) {
  const std::uint32_t limit = settings_.options.max_sessions;
  if (open_sessions() >= limit) {
    return refuse(arrival, protocol::HelloStatus::kTooMany,
                  "the server has its limit of " + std::to_string(limit) + " sessions; try again later (--max-sessions raises it)");
  }
  auto worker = worker_for_new_session();
  if (!worker) {
    logger_.error("no session for " + arrival.peer.text + ": " + worker.error().message);
    return refuse(arrival, protocol::HelloStatus::kRefused, "the server could not start a session: " + worker.error().message);
  }
  const int fd = arrival.socket.get();
  if (auto status = attach_first(**worker, hello, {&fd, 1}, arrival.peer.text); !status) {
    refuse(arrival, protocol::HelloStatus::kRefused, "the server could not start a session: " + status.error().message);
  }
}

Status Sessions::open_on_pipes(const protocol::HelloBytes& bytes, const std::string& peer, UniqueFd read_end, UniqueFd write_end) {
  const auto hello = protocol::decode_hello(bytes);
  if (!hello) {
    return fail(ErrorCode::kInvalid, hello.error().message);
  }
  if (!is_new(*hello)) {
    return fail(ErrorCode::kInvalid, "a session on stdin and stdout cannot be resumed");
  }
  auto worker = worker_for_new_session();
  if (!worker) {
    return pass_on(std::move(worker));
  }
  const int fds[] = {read_end.get(), write_end.get()};
  return attach_first(**worker, *hello, fds, peer);
}

Status Sessions::attach_first(WorkerProcess& worker, const protocol::Hello& hello, std::span<const int> fds, const std::string& peer) {
  AttachConnection message = attach_message(hello, last_session_ + 1);
  message.resumable = fds.size() == 1 && settings_.options.resume_seconds != 0;
  if (auto status = worker.attach(message, fds); !status) {
    worker.kill("it took no connection: " + status.error().message);
    return status;
  }
  worker.session_number = ++last_session_;
  worker.peer = peer;
  logger_.info("session " + std::to_string(worker.session_number) + " started for " + peer);
  look_after_later();
  return {};
}

void Sessions::resume(HelloTable::Arrival& arrival, const protocol::Hello& hello) {
  const auto found = std::find_if(workers_.begin(), workers_.end(), [&](const auto& entry) {
    return entry.second->serves() && entry.second->session() == hello.session && same_secret(entry.second->secret(), hello.proof);
  });
  if (found == workers_.end()) {
    if (auto sentence = obituaries_.find(hello.session, hello.proof, ObituaryTable::Clock::now())) {
      return refuse(arrival, protocol::HelloStatus::kObituary, std::move(*sentence));
    }
    return refuse(arrival, protocol::HelloStatus::kUnknownSession,
                  "the session is not known here; it may have been freed after " + std::to_string(settings_.options.resume_seconds) +
                      " s without a connection, or the server was started anew");
  }
  const std::uint32_t number = found->first;
  if (parked_.count(number) < kParkedPerWorker) { // more at once is no client of ours
    parked_.emplace(number, std::move(arrival));
    loop_.run_after(kResumeDelay, [this, number] { resume_parked(number); });
  }
}

/// A dying worker's sockets close a moment before its death can be seen. So a client that comes back waits for that moment: it
/// gets the obituary then, and not a connection that a dead worker will never take.
void Sessions::resume_parked(std::uint32_t number) {
  const auto found = workers_.find(number);
  for (auto at = parked_.lower_bound(number); found != workers_.end() && at != parked_.end() && at->first == number;) {
    WorkerProcess& worker = *found->second;
    const HelloTable::Arrival& arrival = at->second;
    const int fd = arrival.socket.get();
    const auto status = worker.attach(attach_message(protocol::decode_hello(arrival.bytes).value(), worker.session_number), {&fd, 1});
    if (!status && status.error().code == ErrorCode::kClosed) {
      return; // dying: on_worker_end answers
    }
    if (status) {
      const bool further = protocol::decode_hello(arrival.bytes)->stream == protocol::StreamKind::kBulk;
      logger_.info("session " + std::to_string(worker.session_number) + (further ? " gets a stream for bulk from " : " resumed by ") +
                   arrival.peer.text);
    } else { // closed without an answer: the client tries again within its time
      stranger_log_.write(LogLevel::kWarn, name_of(worker) + " could not be resumed: " + status.error().message);
    }
    at = parked_.erase(at);
  }
}

std::size_t Sessions::open_sessions() const {
  return static_cast<std::size_t>(std::count_if(workers_.begin(), workers_.end(),
                                                [](const auto& entry) { return entry.second->serves() && !entry.second->is_over(); }));
}

// --- workers ----------------------------------------------------------------------------------------------------------

Result<WorkerProcess*> Sessions::worker_for_new_session() {
  WorkerProcess* const worker = std::exchange(reserve_, nullptr);
  if (!settings_.options.stdio) {
    refill_reserve_after(std::max<EventLoop::Clock::duration>(kRefillDelay, reserve_pause_));
  }
  if (worker != nullptr && !worker->is_over()) {
    return worker;
  }
  return start_worker();
}

Result<WorkerProcess*> Sessions::start_worker() {
  auto compile_service = compiler_.connect();
  if (!compile_service) {
    return pass_on(std::move(compile_service));
  }
  do {
    ++last_worker_; // never 0, never one in use
  } while (last_worker_ == 0 || workers_.contains(last_worker_));
  const std::uint32_t number = last_worker_;
  auto started = WorkerProcess::start(settings_, number, permits_.fd(), std::move(*compile_service));
  if (!started) {
    return pass_on(std::move(started));
  }
  WorkerProcess& worker = **started;
  if (auto status = loop_.watch(worker.process().pid_fd(), [this, number] { on_worker_end(number); }); !status) {
    return pass_on(std::move(status));
  }
  if (auto status = loop_.watch(worker.control_fd(), [this, number] { on_control(number); }); !status) {
    loop_.forget(worker.process().pid_fd());
    return pass_on(std::move(status));
  }
  workers_.emplace(number, std::move(*started));
  return &worker;
}

void Sessions::refill_reserve_after(EventLoop::Clock::duration delay) {
  if (refill_timer_ != 0 || ending_) {
    return;
  }
  refill_timer_ = loop_.run_after(delay, [this] {
    refill_timer_ = 0;
    if (reserve_ != nullptr || ending_) {
      return;
    }
    if (auto worker = start_worker()) {
      reserve_ = *worker;
    } else {
      logger_.error("no worker in reserve: " + worker.error().message);
      reserve_pause_ = std::clamp<EventLoop::Clock::duration>(reserve_pause_ * 2, kFirstReservePause, kLongestReservePause);
      refill_reserve_after(reserve_pause_);
    }
  });
}

void Sessions::replace_compile_service() {
  for (const auto& [number, worker] : workers_) {
    auto connection = compiler_.connect();
    if (!connection) {
      logger_.error("no connection to the compile service: " + connection.error().message);
      return;
    }
    const int fd = connection->get();
    if (!worker->is_over() && !worker->send(ReplaceCompileService{}, {&fd, 1})) {
      logger_.warn(worker->serves() ? name_of(*worker) + " does not react" : "the worker in reserve does not react");
    }
  }
}

void Sessions::on_control(std::uint32_t number) {
  WorkerProcess& worker = *workers_.at(number);
  const auto status = worker.read_control();
  if (status) {
    return;
  }
  loop_.forget(worker.control_fd());
  if (status.error().code != ErrorCode::kClosed) {
    return worker.kill("its process broke the rules of the control channel: " + clean_text(status.error().message, 200));
  }
  loop_.run_after(kControlEofGrace, [this, number] {
    if (const auto found = workers_.find(number); found != workers_.end()) {
      found->second->kill("its process closed its control channel and did not end");
    }
  });
}

void Sessions::on_worker_end(std::uint32_t number) {
  const auto found = workers_.find(number);
  WorkerProcess& worker = *found->second;
  static_cast<void>(worker.read_control()); // its last message may still wait there
  worker.process().kill_group();            // whatever it may have started
  loop_.forget(worker.process().pid_fd());
  loop_.forget(worker.control_fd());
  const auto end = worker.process().reap();
  permits_.memory->free_all_of(number);
  const bool well = report_end(worker, end ? *end : ChildEnd{false, -1});
  const bool served = worker.serves();
  if (reserve_ == &worker) {
    reserve_ = nullptr;
    reserve_pause_ = std::clamp<EventLoop::Clock::duration>(reserve_pause_ * 2, kFirstReservePause, kLongestReservePause);
    refill_reserve_after(reserve_pause_);
  } else if (well) {
    reserve_pause_ = {};
  }
  workers_.erase(found);
  while (auto parked = parked_.extract(number)) {
    take(std::move(parked.mapped()));
  }
  if (served && hooks_.on_session_end) {
    hooks_.on_session_end(well);
  }
  if (ending_ && workers_.empty()) {
    hooks_.on_all_ended();
  }
}

/// One line of the log, and an obituary where a client may come back for it. True: it ended as it should.
bool Sessions::report_end(WorkerProcess& worker, const ChildEnd& end) {
  if (ending_) {
    return true; // everything ends
  }
  if (!worker.serves()) {
    logger_.error("a worker in reserve died: " + worker.killed_because().value_or(describe_death(end, worker.page())));
    return false;
  }
  if (worker.ended() && !worker.ended()->failed) {
    report_orderly_end(worker, end);
    return true;
  }
  std::string sentence;
  if (worker.killed_because()) {
    sentence = *worker.killed_because();
  } else if (worker.ended()) {
    sentence = clean_text(worker.ended()->reason, protocol::kMaxSentenceBytes);
  } else {
    sentence = describe_death(end, worker.page());
  }
  logger_.warn(name_of(worker) + " was ended: " + sentence);
  obituaries_.add(worker.session(), worker.secret(),
                  sentence.substr(0, protocol::kHelloTextBytes - kObituaryEnd.size()) + std::string(kObituaryEnd),
                  ObituaryTable::Clock::now());
  return false;
}

void Sessions::report_orderly_end(const WorkerProcess& worker, const ChildEnd& end) {
  std::string line = name_of(worker) + " ended: " + clean_text(worker.ended()->reason, protocol::kMaxSentenceBytes);
  if (worker.killed_because()) {
    logger_.warn(line + "; " + *worker.killed_because());
  } else if (end.by_signal || end.value != 0) {
    logger_.warn(line + "; then " + describe_death(end, worker.page()));
  } else {
    logger_.info(line);
  }
}

// --- limits of time ---------------------------------------------------------------------------------------------------

void Sessions::look_after_later() {
  if (look_timer_ == 0) {
    look_timer_ = loop_.run_after(kLookEvery, [this] {
      look_timer_ = 0;
      look_after_workers();
    });
  }
}

void Sessions::look_after_workers() {
  const auto now = EventLoop::Clock::now();
  bool any = false;
  for (const auto& [number, worker] : workers_) {
    if (worker->serves()) {
      any = true;
      look_after(*worker, now);
    }
  }
  if (any) {
    look_after_later();
  }
}

void Sessions::look_after(WorkerProcess& worker, EventLoop::Clock::time_point now) {
  if (const auto since = worker.ending_since(now); since && now - *since >= kEndingGrace) {
    const std::string running = describe_running(worker.page());
    return worker.kill((running.empty() ? std::string("its process") : running) + " did not end after its client had gone");
  }
  const std::uint64_t limit_ns = std::uint64_t{settings_.options.kernel_seconds} * 1'000'000'000u;
  if (limit_ns == 0) {
    return;
  }
  const std::uint64_t now_ns = monotonic_ns();
  for (const RunningKernelSeen& kernel : read_running(worker.page())) {
    if (kernel.since_ns <= now_ns && now_ns - kernel.since_ns > limit_ns) {
      return worker.kill("kernel '" + kernel.name + "' ran longer than --kernel-seconds " +
                         std::to_string(settings_.options.kernel_seconds));
    }
  }
}

void Sessions::end_all(const std::string& sentence) {
  ending_ = true;
  loop_.cancel(refill_timer_);
  for (const auto& [number, worker] : workers_) {
    if (!worker->serves() || !worker->send(EndSession{sentence})) {
      worker->kill("the server ends");
    }
  }
  if (workers_.empty()) {
    return hooks_.on_all_ended();
  }
  kill_timer_ = loop_.run_after(kEndGrace, [this] {
    kill_timer_ = 0;
    for (const auto& [number, worker] : workers_) {
      worker->kill("the server ends");
    }
  });
}

} // namespace farcl::daemon
