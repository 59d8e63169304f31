#include "service.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <utility>
#include <vector>

namespace farcl::kernel_compiler {
namespace {

using Clock = std::chrono::steady_clock;

/// FARCL_LOG, as everywhere.
std::string_view log_setting() {
  const char* text = std::getenv("FARCL_LOG");
  return text != nullptr ? text : "";
}

constexpr int kIdlePollMs = 60'000;
/// A fresh service first answers what is there; a busy one does nothing in advance.
constexpr int kQuietMs = 20;
constexpr auto kSparePause = std::chrono::seconds(10); ///< after a failed fork

/// Of all that a build gets. For programs from source it is what the client makes too.
ContentHash hash_of(const CompileRequest& request) {
  ContentHasher hasher;
  add_program(hasher, static_cast<std::uint8_t>(request.stage), request.source, request.headers, request.options);
  for (const Binary& input : request.inputs) {
    hasher.add(ConstBytes(input.bytes));
  }
  return hasher.finish();
}

} // namespace

Service::Service(UniqueFd control, std::unique_ptr<Compiler> compiler, Cache cache, ServiceOptions options)
    : control_(std::move(control)), compiler_(std::move(compiler)), cache_(std::move(cache)), options_(options),
      log_("farcl-kc", "service", parse_log_level(log_setting(), LogLevel::kInfo)) {}

Status Service::run() {
  while (turn()) {
  }
  return {};
}

/// When nobody waits, or at the first build: a known program of a fresh daemon does not wait for it.
void Service::warm_up() {
  if (!is_warm_) {
    is_warm_ = true;
    compiler_->warm_up();
  }
}

bool Service::wants_spare() const { return !spare_ && waiting_.empty() && running_.empty() && Clock::now() >= next_spare_; }

int Service::poll_limit_ms() const {
  if (!is_warm_ || wants_spare()) {
    return kQuietMs;
  }
  Clock::time_point next = Clock::now() + std::chrono::milliseconds(kIdlePollMs);
  for (const Build& build : running_) {
    next = std::min(next, build.child.deadline());
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kIdlePollMs));
}

/// One round of waiting and serving; false when the control socket has closed.
bool Service::turn() {
  std::vector<pollfd> entries;
  std::vector<ConnectionId> ids;
  entries.push_back({control_.get(), POLLIN, 0});
  for (const auto& [id, connection] : connections_) {
    const bool may_read = connection.open_requests < options_.max_requests_per_connection;
    const int wanted = (may_read ? POLLIN : 0) | (connection.outgoing.empty() ? 0 : POLLOUT);
    entries.push_back({connection.socket.get(), static_cast<short>(wanted), 0});
    ids.push_back(id);
  }
  for (const Build& build : running_) {
    entries.push_back({build.child.fd(), POLLIN, 0});
  }
  const int ready = ::poll(entries.data(), entries.size(), poll_limit_ms());
  if (ready < 0 && errno != EINTR) {
    log_.error("poll failed, the service ends");
    return false;
  }
  if (ready == 0) {
    warm_up();
    if (wants_spare()) {
      make_spare();
    }
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (entries[i + 1].revents != 0 && !serve(ids[i], connections_.at(ids[i]), entries[i + 1].revents)) {
      drop(ids[i]);
    }
  }
  if (entries[0].revents != 0 && !accept_connections()) {
    return false;
  }
  finish_builds();
  start_builds();
  return true;
}

bool Service::accept_connections() {
  auto socket = receive_descriptor(control_.get());
  if (!socket) {
    return false;
  }
  if (!*socket) {
    return true;
  }
  if (connections_.size() >= options_.max_connections) {
    log_.warn("too many connections, a new one is refused");
    return true;
  }
  connections_[next_connection_++].socket = std::move(*socket);
  return true;
}

bool Service::serve(ConnectionId id, Connection& connection, short events) {
  if ((events & POLLOUT) != 0 && !write_replies(connection)) {
    return false;
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
    return read_requests(id, connection);
  }
  return true;
}

bool Service::read_requests(ConnectionId id, Connection& connection) {
  if (auto read = connection.reader.read_some(connection.socket.get()); !read) {
    if (read.error().code == ErrorCode::kInvalid) {
      log_.warn("a connection is closed: " + read.error().message);
    }
    return false;
  }
  while (std::optional<Frame> frame = connection.reader.take()) {
    if (!take_request(id, connection, std::move(*frame))) {
      return false;
    }
  }
  return true;
}

bool Service::take_request(ConnectionId id, Connection& connection, Frame frame) {
  const Asker asker{id, frame.request_id};
  CompileRequest request;
  Reader reader(frame.message);
  if (!reader.read(request) || reader.remaining() != 0) {
    log_.warn("a connection is closed: a request that cannot be decoded: " + reader.error());
    return false;
  }
  ++connection.open_requests;
  // A hash that somebody sends finds what is there and never names what is stored.
  std::string key = Cache::key_of(compiler_->identity(), request.hash ? *request.hash : hash_of(request));
  if (auto found = cache_.find(key)) {
    answer(asker, encode(found->data), std::move(found->shared_object));
  } else if (Job* job = find_job(key); job != nullptr) {
    job->askers.push_back(asker);
  } else if (request.hash) {
    CompileReplyData reply;
    reply.status = CompileStatus::kSourceWanted;
    answer(asker, encode(reply), UniqueFd());
  } else {
    waiting_.push_back({{asker}, std::move(key), std::move(request)});
  }
  return true;
}

Service::Job* Service::find_job(const std::string& key) {
  for (Job& job : waiting_) {
    if (job.key == key) {
      return &job;
    }
  }
  for (Build& build : running_) {
    if (build.job.key == key) {
      return &build.job;
    }
  }
  return nullptr;
}

bool Service::write_replies(Connection& connection) {
  while (!connection.outgoing.empty()) {
    Outgoing& next = connection.outgoing.front();
    auto gone = connection.sender.advance(connection.socket.get(), next.request_id, next.bytes, next.descriptor.get());
    if (!gone) {
      return false;
    }
    if (!*gone) {
      return true;
    }
    connection.outgoing.pop_front();
    --connection.open_requests;
  }
  return true;
}

/// With everything that it still wanted.
void Service::drop(ConnectionId id) {
  connections_.erase(id);
  const auto is_wanted_no_more = [id](Job& job) {
    std::erase_if(job.askers, [id](const Asker& asker) { return asker.connection == id; });
    return job.askers.empty();
  };
  std::erase_if(waiting_, is_wanted_no_more);
  running_.remove_if([&](Build& build) { return is_wanted_no_more(build.job); });
}

void Service::start_builds() {
  while (!waiting_.empty() && running_.size() < options_.max_builds) {
    warm_up();
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    start_build(std::move(job), false, {});
  }
}

void Service::start_build(Job job, bool second_try, const std::string& earlier_log) {
  auto child = child_for_build();
  const Status given = child ? child->give(job.request, !second_try) : Status(pass_on(std::move(child)));
  if (!given) {
    log_.error("a build cannot start: " + given.error().message);
    CompileReplyData data;
    data.log = earlier_log + "error: the build cannot start: " + given.error().message + "\n";
    answer(job, data, UniqueFd());
    return;
  }
  running_.push_back({std::move(job), std::move(*child), second_try});
}

Result<BuildChild> Service::child_for_build() {
  if (spare_ && spare_->is_ready()) {
    BuildChild child = std::move(*spare_);
    spare_.reset();
    return child;
  }
  if (spare_ && spare_->has_ended()) {
    spare_.reset();
  }
  return BuildChild::prepare(*compiler_, options_.limits, false);
}

/// When nobody has wanted anything for a moment: it costs as much as a small build.
void Service::make_spare() {
  auto child = BuildChild::prepare(*compiler_, options_.limits, true);
  if (child) {
    spare_ = std::move(*child);
  } else {
    log_.debug("no build child in reserve: " + child.error().message);
    next_spare_ = Clock::now() + kSparePause;
  }
}

void Service::finish_builds() {
  std::list<Build> ended;
  for (auto build = running_.begin(); build != running_.end();) {
    const auto next = std::next(build);
    if (build->child.has_ended() || Clock::now() >= build->child.deadline()) {
      ended.splice(ended.end(), running_, build);
    }
    build = next;
  }
  for (Build& build : ended) {
    const bool timed_out = !build.child.has_ended();
    finish_build(std::move(build), timed_out);
  }
}

void Service::finish_build(Build build, bool timed_out) {
  BuildChild::Outcome outcome = build.child.finish(timed_out);
  log_.debug("a build used " + std::to_string(outcome.processor_ms) + " ms of processor time");
  if (outcome.compiler_died) {
    log_death(outcome.data.log);
    if (!build.second_try) {
      start_build(std::move(build.job), true, outcome.data.log);
      return;
    }
  } else if (outcome.data.status == CompileStatus::kOk && !build.second_try) {
    if (auto stored = cache_.store(build.job.key, outcome.data, outcome.shared_object.get()); !stored) {
      log_.warn("a result is not cached: " + stored.error().message);
    }
  }
  answer(build.job, outcome.data, outcome.shared_object);
}

void Service::log_death(const std::string& log) {
  if (Clock::now() < next_log_) {
    ++deaths_not_logged_;
    return;
  }
  next_log_ = Clock::now() + std::chrono::seconds(1);
  const std::string others = deaths_not_logged_ != 0 ? " (and " + std::to_string(deaths_not_logged_) + " more since the last line)" : "";
  log_.info("a build child ended: " + log.substr(0, log.find('\n')) + others);
  deaths_not_logged_ = 0;
}

void Service::answer(const Job& job, const CompileReplyData& data, const UniqueFd& shared_object) {
  const ByteVector reply = encode(data);
  for (const Asker& asker : job.askers) {
    answer(asker, reply, UniqueFd(shared_object ? ::fcntl(shared_object.get(), F_DUPFD_CLOEXEC, 0) : -1));
  }
}

void Service::answer(const Asker& asker, ConstBytes reply, UniqueFd shared_object) {
  const auto found = connections_.find(asker.connection);
  if (found == connections_.end()) {
    return;
  }
  Connection& connection = found->second;
  connection.outgoing.push_back({asker.request_id, ByteVector(reply.begin(), reply.end()), std::move(shared_object)});
  // A failed write shows as a hang-up in the next round.
  (void)write_replies(connection);
}

} // namespace farcl::kernel_compiler
