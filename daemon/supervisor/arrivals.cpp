// How connections come to sessions: let in or refused, to a new worker or to the one whose session they name.
#include "daemon/supervisor/sessions.hpp"

#include <algorithm>
#include <chrono>
#include <sys/socket.h>

namespace farcl::daemon {

namespace {
using namespace std::chrono_literals;
using protocol::HelloStatus;

inline constexpr auto kResumeDelay = 5ms;
inline constexpr std::size_t kParkedPerWorker = 8;
inline constexpr std::size_t kMaxHeldBack = 256; ///< refusals that wait; beyond that a connection is closed without one

bool is_new(const protocol::Hello& hello) { return hello.session == protocol::SessionId{}; }

AttachConnection attach_message(const protocol::Hello& hello, const Admission& admission, std::uint64_t session_number) {
  AttachConnection message;
  message.session_number = session_number;
  message.version_min = hello.version_min;
  message.version_max = hello.version_max;
  message.resume = !is_new(hello);
  message.received = hello.received;
  message.stream = hello.stream_number;
  message.shared_memory = (hello.capabilities & protocol::kTakesSharedMemory) != 0;
  message.encrypted = admission.key != nullptr;
  message.one_time_key = admission.one_time_key.bytes;
  return message;
}

/// "127.0.0.1:5555 with the key 'alice'".
std::string describe(const std::string& peer, const Admission& admission) {
  return admission.key == nullptr ? peer : peer + " with the key '" + admission.key->name + "'";
}
} // namespace

void Sessions::take(HelloTable::Arrival arrival) {
  const auto hello = protocol::decode_hello(arrival.bytes);
  if (!hello) {
    return refuse(std::move(arrival), {HelloStatus::kRefused, "the hello makes no sense: " + hello.error().message, nullptr, {}});
  }
  if (hello->version_min > protocol::kVersion || hello->version_max < protocol::kVersion) {
    return refuse(std::move(arrival),
                  {HelloStatus::kBadVersion,
                   "this server speaks version " + std::to_string(protocol::kVersion) + " of FarCL's protocol, the client " +
                       std::to_string(hello->version_min) + " to " + std::to_string(hello->version_max),
                   nullptr,
                   {}});
  }
  auto admission = gatekeeper_.admit(arrival, *hello);
  if (!admission) {
    return refuse(std::move(arrival), std::move(admission).error());
  }
  let_in({std::move(arrival), *hello, std::move(*admission)});
}

void Sessions::let_in(Caller caller) {
  if (ending_) {
    return refuse(caller, HelloStatus::kRefused, "the server is about to end");
  }
  is_new(caller.hello) ? open(caller) : resume(std::move(caller));
}

void Sessions::refuse(const Caller& caller, HelloStatus status, std::string text) {
  answer_with_refusal(caller.arrival, {status, std::move(text), caller.admission.key, {}});
}

void Sessions::refuse(HelloTable::Arrival arrival, Refusal refusal) {
  if (refusal.hold_back.count() == 0) {
    return answer_with_refusal(arrival, refusal);
  }
  if (held_back_ < kMaxHeldBack) {
    ++held_back_;
    auto later = std::make_shared<std::pair<HelloTable::Arrival, Refusal>>(std::move(arrival), std::move(refusal));
    loop_.run_after(later->second.hold_back, [this, later] {
      --held_back_;
      answer_with_refusal(later->first, later->second);
    });
  }
}

void Sessions::answer_with_refusal(const HelloTable::Arrival& arrival, const Refusal& refusal) {
  if (refusal.status != HelloStatus::kObituary) { // an obituary has had its line when the worker died
    stranger_log_.write(LogLevel::kInfo, "refused " + arrival.peer.text + ": " + refusal.text);
  }
  protocol::HelloReply reply;
  reply.status = refusal.status;
  reply.text = refusal.text;
  auto bytes = protocol::encode_hello_reply(reply);
  if (refusal.sealed_by != nullptr) {
    net::seal_reply(bytes, arrival.bytes, *refusal.sealed_by);
  }
  // A fresh connection has room for so little; if not, closing says enough.
  static_cast<void>(::send(arrival.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

// --- new sessions -----------------------------------------------------------------------------------------------------

std::optional<std::string> Sessions::too_many(const Admission& admission) const {
  const std::uint32_t limit = settings_.options.max_sessions;
  if (open_sessions() >= limit) {
    return "the server has its limit of " + std::to_string(limit) + " sessions; try again later (--max-sessions raises it)";
  }
  const net::Key* const key = admission.key.get();
  if (key != nullptr && key->max_sessions != 0 && open_sessions(key) >= key->max_sessions) {
    return "the key '" + key->name + "' has its limit of " + std::to_string(key->max_sessions) + " sessions; try again later";
  }
  return std::nullopt;
}

void Sessions::open(const Caller& caller) {
  const HelloTable::Arrival& arrival = caller.arrival;
  if (auto sentence = too_many(caller.admission)) {
    return refuse(caller, HelloStatus::kTooMany, std::move(*sentence));
  }
  auto worker = worker_for_new_session();
  if (!worker) {
    logger_.error("no session for " + arrival.peer.text + ": " + worker.error().message);
    return refuse(caller, HelloStatus::kRefused, "the server could not start a session: " + worker.error().message);
  }
  const int fd = arrival.socket.get();
  if (auto status = attach_first(**worker, caller.hello, caller.admission, {&fd, 1}, arrival.peer.text); !status) {
    refuse(caller, HelloStatus::kRefused, "the server could not start a session: " + status.error().message);
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
  return attach_first(**worker, *hello, {}, fds, peer);
}

Status Sessions::attach_first(WorkerProcess& worker, const protocol::Hello& hello, const Admission& admission, std::span<const int> fds,
                              const std::string& peer) {
  AttachConnection message = attach_message(hello, admission, last_session_ + 1);
  message.resumable = fds.size() == 1 && settings_.options.resume_seconds != 0;
  if (auto status = worker.attach(message, fds); !status) {
    worker.kill("it took no connection: " + status.error().message);
    return status;
  }
  worker.session_number = ++last_session_;
  worker.peer = peer;
  worker.key = admission.key;
  logger_.info("session " + std::to_string(worker.session_number) + " started for " + describe(peer, admission));
  look_after_later();
  return {};
}

// --- further connections of sessions ----------------------------------------------------------------------------------

/// With the key that it began with, and with its secret: the one does not do for the other.
WorkerProcess* Sessions::find_session(const Caller& caller) const {
  const auto found = std::find_if(workers_.begin(), workers_.end(), [&](const auto& entry) {
    const WorkerProcess& worker = *entry.second;
    const net::KeyPtr& key = caller.admission.key;
    const bool same_key = worker.key == nullptr || key == nullptr ? worker.key == key : worker.key->id == key->id;
    return worker.serves() && same_key && worker.session() == caller.hello.session &&
           net::proves_session(caller.arrival.bytes, worker.secret());
  });
  return found == workers_.end() ? nullptr : found->second.get();
}

void Sessions::resume(Caller caller) {
  WorkerProcess* const worker = find_session(caller);
  if (worker == nullptr) {
    if (auto sentence = obituaries_.find(caller.hello.session, caller.arrival.bytes, ObituaryTable::Clock::now())) {
      return refuse(caller, HelloStatus::kObituary, std::move(*sentence));
    }
    return refuse(caller, HelloStatus::kUnknownSession,
                  "the session is not known here; it may have been freed after " + std::to_string(settings_.options.resume_seconds) +
                      " s without a connection, or the server was started anew");
  }
  const std::uint32_t number = worker->number();
  if (parked_.count(number) < kParkedPerWorker) { // more at once is no client of ours
    parked_.emplace(number, std::move(caller));
    loop_.run_after(kResumeDelay, [this, number] { resume_parked(number); });
  }
}

/// A dying worker's sockets close a moment before its death can be seen. So a client that comes back waits for that moment: it
/// gets the obituary then, and not a connection that a dead worker will never take.
void Sessions::resume_parked(std::uint32_t number) {
  const auto found = workers_.find(number);
  for (auto at = parked_.lower_bound(number); found != workers_.end() && at != parked_.end() && at->first == number;) {
    WorkerProcess& worker = *found->second;
    const Caller& caller = at->second;
    const int fd = caller.arrival.socket.get();
    const auto status = worker.attach(attach_message(caller.hello, caller.admission, worker.session_number), {&fd, 1});
    if (!status && status.error().code == ErrorCode::kClosed) {
      return; // dying: on_worker_end answers
    }
    if (status) {
      const bool further = caller.hello.stream == protocol::StreamKind::kBulk;
      logger_.info("session " + std::to_string(worker.session_number) + (further ? " gets a stream for bulk from " : " resumed by ") +
                   caller.arrival.peer.text);
    } else { // closed without an answer: the client tries again within its time
      stranger_log_.write(LogLevel::kWarn, worker.name() + " could not be resumed: " + status.error().message);
    }
    at = parked_.erase(at);
  }
}

} // namespace farcl::daemon
