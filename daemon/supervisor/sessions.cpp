#include "daemon/supervisor/sessions.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>

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
inline constexpr auto kDismissalGrace = 2s;   ///< between telling a session that its key is no longer good and its end
inline constexpr std::string_view kObituaryEnd = "; the session was ended";

std::uint32_t spin_permits(std::uint32_t cores) {
  return std::clamp<std::uint32_t>(cores - std::min(cores, 1u), 1, static_cast<std::uint32_t>(kMaxSpinPermits));
}

} // namespace

Sessions::Sessions(EventLoop& loop, const Logger& logger, RateLimitedLog& stranger_log, const WorkerSettings& settings,
                   CompileService& compiler, Gatekeeper& gatekeeper, Hooks hooks)
    : loop_(loop), logger_(logger), stranger_log_(stranger_log), settings_(settings), compiler_(compiler), gatekeeper_(gatekeeper),
      hooks_(std::move(hooks)), obituaries_(std::chrono::seconds(settings.options.resume_seconds) + kRememberTheDead) {}

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

/// Of one key, or all.
std::size_t Sessions::open_sessions(const net::Key* of) const {
  return static_cast<std::size_t>(std::count_if(workers_.begin(), workers_.end(), [of](const auto& entry) {
    const WorkerProcess& worker = *entry.second;
    const bool counts = of == nullptr || (worker.key != nullptr && worker.key->id == of->id);
    return counts && worker.serves() && !worker.is_over();
  }));
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
      logger_.warn(worker->serves() ? worker->name() + " does not react" : "the worker in reserve does not react");
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
    let_in(std::move(parked.mapped()));
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
  if (worker.ended() && !worker.ended()->failed && !worker.dismissed_because) {
    report_orderly_end(worker, end);
    return true;
  }
  std::string sentence;
  if (worker.dismissed_because) {
    sentence = *worker.dismissed_because;
  } else if (worker.killed_because()) {
    sentence = *worker.killed_because();
  } else if (worker.ended()) {
    sentence = clean_text(worker.ended()->reason, protocol::kMaxSentenceBytes);
  } else {
    sentence = describe_death(end, worker.page());
  }
  logger_.warn(worker.name() + " was ended: " + sentence);
  obituaries_.add(worker.session(), worker.secret(),
                  sentence.substr(0, protocol::kHelloTextBytes - kObituaryEnd.size()) + std::string(kObituaryEnd),
                  ObituaryTable::Clock::now());
  return false;
}

void Sessions::report_orderly_end(const WorkerProcess& worker, const ChildEnd& end) {
  std::string line = worker.name() + " ended: " + clean_text(worker.ended()->reason, protocol::kMaxSentenceBytes);
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
  dismiss_without_key(worker);
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

void Sessions::reload_keys() {
  if (auto status = gatekeeper_.keys().reload(); !status) {
    return logger_.error("the keys are as before: " + status.error().message);
  }
  logger_.info(std::to_string(gatekeeper_.keys().size()) + " keys from " + gatekeeper_.keys().path());
  for (const auto& [number, worker] : workers_) {
    dismiss_without_key(*worker);
  }
}

/// A session ends with its key: its client is told, and hears it again if it comes back.
void Sessions::dismiss_without_key(WorkerProcess& worker) {
  if (worker.key == nullptr || worker.is_over() || worker.dismissed_because) {
    return;
  }
  worker.dismissed_because = gatekeeper_.keys().objection(*worker.key, seconds_since_1970());
  if (!worker.dismissed_because) {
    return;
  }
  if (!worker.send(EndSession{*worker.dismissed_because})) {
    return worker.kill(*worker.dismissed_because);
  }
  loop_.run_after(kDismissalGrace, [this, number = worker.number()] {
    if (const auto found = workers_.find(number); found != workers_.end()) {
      found->second->kill(*found->second->dismissed_because);
    }
  });
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
