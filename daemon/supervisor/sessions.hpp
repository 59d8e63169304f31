// The sessions of this daemon: which worker has which, how long, and what remains of those that died.
//
// Everything here runs on the supervisor's one thread and waits for nobody: messages to workers are sent without waiting, ends
// of processes come through the loop, and what a worker says or shows decides about nobody but itself.
#pragma once

#include "daemon/supervisor/compile_service.hpp"
#include "daemon/supervisor/event_loop.hpp"
#include "daemon/supervisor/gatekeeper.hpp"
#include "daemon/supervisor/hello_table.hpp"
#include "daemon/supervisor/obituary.hpp"
#include "daemon/supervisor/rate_limit.hpp"
#include "daemon/supervisor/worker_process.hpp"

#include <functional>
#include <map>
#include <memory>

namespace farcl::daemon {

class Sessions {
public:
  struct Hooks {
    std::function<void(bool well)> on_session_end; ///< a session's process has been reaped
    std::function<void()> on_all_ended;            ///< after end_all: no process is left
  };

  Sessions(EventLoop& loop, const Logger& logger, RateLimitedLog& stranger_log, const WorkerSettings& settings, CompileService& compiler,
           Gatekeeper& gatekeeper, Hooks hooks);
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions();

  /// Makes the permits and starts a worker in reserve.
  Status start();
  /// A connection whose hello has been read: opens, resumes or refuses.
  void take(HelloTable::Arrival arrival);
  /// The one session of `farcld --stdio`. Fails with the sentence for the log.
  Status open_on_pipes(const protocol::HelloBytes& bytes, const std::string& peer, UniqueFd read_end, UniqueFd write_end);
  /// The compile service runs again: every worker gets a new connection.
  void replace_compile_service();
  /// Reads the keys again; sessions whose key is no longer good end.
  void reload_keys();
  /// Asks all to end; who has not in kEndGrace is killed.
  void end_all(const std::string& sentence);

private:
  using Workers = std::map<std::uint32_t, std::unique_ptr<WorkerProcess>>;

  /// A connection whose hello was understood, and which may come in.
  struct Caller {
    HelloTable::Arrival arrival;
    protocol::Hello hello;
    Admission admission;
  };

  // arrivals.cpp: how connections come to sessions
  void let_in(Caller caller);
  void open(const Caller& caller);
  void resume(Caller caller);
  void refuse(HelloTable::Arrival arrival, Refusal refusal);
  void refuse(const Caller& caller, protocol::HelloStatus status, std::string text);
  void answer_with_refusal(const HelloTable::Arrival& arrival, const Refusal& refusal);
  void resume_parked(std::uint32_t number);
  Result<WorkerProcess*> worker_for_new_session();
  Status attach_first(WorkerProcess& worker, const protocol::Hello& hello, const Admission& admission, std::span<const int> fds,
                      const std::string& peer);
  [[nodiscard]] std::optional<std::string> too_many(const Admission& admission) const;
  [[nodiscard]] WorkerProcess* find_session(const Caller& caller) const;

  // sessions.cpp

  Result<WorkerProcess*> start_worker();
  void refill_reserve_after(EventLoop::Clock::duration delay);
  void on_control(std::uint32_t number);
  void on_worker_end(std::uint32_t number);
  bool report_end(WorkerProcess& worker, const ChildEnd& end);
  void report_orderly_end(const WorkerProcess& worker, const ChildEnd& end);
  void look_after_later();
  void look_after_workers();
  void look_after(WorkerProcess& worker, EventLoop::Clock::time_point now);
  void dismiss_without_key(WorkerProcess& worker);
  [[nodiscard]] std::size_t open_sessions(const net::Key* of = nullptr) const;

  EventLoop& loop_;
  const Logger& logger_;
  RateLimitedLog& stranger_log_;
  WorkerSettings settings_;
  CompileService& compiler_;
  Gatekeeper& gatekeeper_;
  Hooks hooks_;
  SharedPage<SpinPermits> permits_;
  Workers workers_; ///< all processes, by number: sessions, those that end, and the reserve
  WorkerProcess* reserve_ = nullptr;
  std::multimap<std::uint32_t, Caller> parked_; ///< clients that came back, by the worker's number
  std::size_t held_back_ = 0;                   ///< refusals that wait until they are heard
  ObituaryTable obituaries_;
  std::uint32_t last_worker_ = 0;
  std::uint64_t last_session_ = 0;
  EventLoop::Clock::duration reserve_pause_{};
  EventLoop::TimerId refill_timer_ = 0;
  EventLoop::TimerId look_timer_ = 0;
  EventLoop::TimerId kill_timer_ = 0;
  bool ending_ = false;
};

} // namespace farcl::daemon
