#include "daemon/session/session.hpp"

#include <poll.h>
#include <utility>

namespace farcl::daemon {

namespace {
using namespace std::chrono_literals;

/// Not written because the client does not read: from here on the session does not read either.
constexpr std::size_t kMaxUnsentBytes = 16u << 20;
/// Kernels' text that waits to be sent; what is printed beyond that is dropped.
constexpr std::uint64_t kMaxWaitingTextBytes = 16u << 20;
/// A spinning thread looks at its mailboxes all the time, at a transport whose look is a system call this often.
constexpr auto kTransportPollInterval = 1500ns;
/// A sleep without anything to wait for ends after this, so that a lost wake-up could never stall a session.
constexpr auto kLongestSleep = 60s;
constexpr auto kFarewellTime = 1s;
/// More than a socket buffers of what a client wrote before it closed.
constexpr std::size_t kMaxLastWordsBytes = 16u << 20;
/// Between a chunk and the message that announces it, on two connections that work.
constexpr auto kAnnouncementTime = 5s;
constexpr auto kCompletionDelay = 100us;

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}
} // namespace

Session::Session(SessionConfig config)
    : config_(std::move(config)), control_([this] { waker_.notify(); }), mail_([this] { waker_.notify(); }),
      sender_(receiver_.received_sequence()),
      state_(std::make_unique<SessionState>(std::move(config_.parts), sender_, static_cast<CompletionSink&>(*this),
                                            BulkStreams::Hooks{[this](ChunkArrival arrival) { mail_.post(std::move(arrival)); },
                                                               [this](StreamFailure failure) { mail_.post(std::move(failure)); },
                                                               [this] { waker_.notify(); }},
                                            [this](BuildArrival arrival) { mail_.post(std::move(arrival)); })),
      handlers_(*state_), detached_since_(Clock::now()) {}

Session::~Session() {
  control_.close();
  mail_.close();
}

void Session::send_server_info() {
  protocol::ServerInfo info;
  info.version = state_->parts.version;
  info.host_name = state_->parts.host_name.substr(0, 256);
  info.insecure = state_->parts.insecure;
  info.clock_ns = device_clock_ns();
  info.limits = state_->parts.limits;
  for (const Device* device : state_->parts.devices) {
    info.devices.push_back(device->info());
  }
  state_->outbox.send(info);
}

SessionEnd Session::run() {
  while (!ended_) {
    try {
      if (!turn() && !ended_) {
        rest();
      }
    } catch (const std::exception& error) { // our own bug, or no memory: this session's end, nobody else's
      fail_session(error.what());
    }
  }
  if (config_.permit != nullptr) {
    config_.permit->release();
  }
  say_farewell();
  return end_;
}

bool Session::turn() {
  if (config_.heartbeat != nullptr) {
    config_.heartbeat->fetch_add(1, std::memory_order_relaxed);
  }
  bool progress = take_control();
  progress |= take_device_mail();
  const bool received = receive();
  progress |= received;
  if (received && state_->bulk_streams.any_waiting()) {
    deliver_waiting_chunks();
  }
  if (ended_) {
    return true;
  }
  if (state_->streams.pump(transport_.get())) {
    state_->scheduler.start_ready();
    progress = true;
  }
  acknowledge_if_due();
  if (!received || sender_.unsent_bytes() != 0 || completions_are_late()) {
    progress |= flush();
  }
  if (transport_ == nullptr && detached_too_long()) {
    end_session(resumable_ ? "its client did not come back within " + std::to_string(state_->parts.limits.resume_seconds) + " s"
                           : "its connection has ended",
                false);
  }
  return progress;
}

bool Session::take_control() {
  if (!control_.has_mail()) {
    return false;
  }
  for (ControlMail& mail : control_.take_all()) {
    std::visit([this](auto& one) { take(std::move(one)); }, mail);
  }
  return true;
}

/// While the client does not take what it gets, devices' results wait in the mailbox: they are bounded by the commands in
/// flight and by kMaxWaitingTextBytes.
bool Session::backed_up() const {
  return sender_.unsent_bytes() > kMaxUnsentBytes || sender_.retained_bytes() > state_->parts.limits.retained_bytes;
}

bool Session::take_device_mail() {
  if (!mail_.has_mail() || backed_up()) {
    return false;
  }
  for (DeviceMail& mail : mail_.take_all()) {
    std::visit([this](auto& one) { take(std::move(one)); }, mail);
  }
  state_->scheduler.start_ready();
  return true;
}

void Session::take(DeviceDone done) { state_->executor.on_device_result(done.token, done.result); }
void Session::take(BuildArrival arrival) { handlers_.on_built(std::move(arrival)); }

void Session::take(ChunkArrival arrival) {
  if (auto status = state_->bulk_streams.deliver(std::move(arrival), state_->transfers); !status) {
    fail_session(status.error().message);
  }
}

void Session::deliver_waiting_chunks() {
  const auto patience = std::chrono::seconds(state_->parts.limits.resume_seconds) + kAnnouncementTime;
  if (auto status = state_->bulk_streams.deliver_waiting(state_->transfers, patience); !status) {
    fail_session(status.error().message);
  }
  state_->scheduler.start_ready();
}

void Session::take(std::string text) {
  waiting_text_bytes_.fetch_sub(text.size(), std::memory_order_relaxed);
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  for (std::size_t at = 0; at < text.size(); at += protocol::kMaxPrintfBytes) {
    const std::size_t count = std::min<std::size_t>(text.size() - at, protocol::kMaxPrintfBytes);
    state_->outbox.send(protocol::PrintfOutput{ConstBytes(bytes + at, count)});
  }
}

void Session::complete(Token token, const DeviceResult& result) noexcept { mail_.post(DeviceDone{token, result}); }

bool Session::print(std::string text) noexcept {
  if (waiting_text_bytes_.fetch_add(text.size(), std::memory_order_relaxed) + text.size() > kMaxWaitingTextBytes) {
    waiting_text_bytes_.fetch_sub(text.size(), std::memory_order_relaxed);
    return false;
  }
  return mail_.post(std::move(text));
}

bool Session::receive() {
  if (transport_ == nullptr || sender_.unsent_bytes() > kMaxUnsentBytes) {
    return false;
  }
  auto read = receiver_.poll(*transport_, *this);
  if (!read) {
    const ErrorCode code = read.error().code;
    if (code == ErrorCode::kDisconnected || code == ErrorCode::kClosed) {
      detach(read.error());
    } else {
      fail_session(read.error().message);
    }
    return true;
  }
  bytes_since_acknowledgement_ += *read;
  if (state_->goodbye) {
    end_session("the client said goodbye", false);
  }
  return *read != 0;
}

Status Session::on_message(protocol::Opcode opcode, ConstBytes payload) { return handlers_.dispatch(opcode, payload); }

Result<MutableBytes> Session::bulk_destination(const protocol::BulkHeader& chunk, std::size_t size) {
  return state_->transfers.destination(chunk, size);
}

Status Session::on_bulk(const protocol::BulkHeader& chunk, std::size_t size) {
  auto status = state_->transfers.arrived(chunk, size);
  state_->scheduler.start_ready();
  return status;
}

Status Session::on_acknowledged(std::uint64_t sequence) {
  auto status = sender_.on_acknowledged(sequence);
  state_->streams.on_acknowledged();
  state_->scheduler.start_ready();
  return status;
}

void Session::on_ping(std::uint64_t token) { sender_.append_pong(token); }

void Session::acknowledge_if_due() {
  const std::uint64_t received = receiver_.received_sequence().load(std::memory_order_relaxed);
  const std::uint64_t told = sender_.sent_acknowledgement();
  if (received > told && (received - told >= net::kAcknowledgeAfterFrames || bytes_since_acknowledgement_ >= net::kAcknowledgeAfterBytes)) {
    sender_.append_acknowledgement();
    bytes_since_acknowledgement_ = 0;
  }
}

/// While more commands come in, completions may wait a little for each other: each message of them wakes somebody. A client
/// that waits for one sends nothing meanwhile, so it gets it at once.
bool Session::completions_are_late() {
  if (!state_->outbox.has_completions()) {
    return false;
  }
  const auto now = Clock::now();
  if (completions_since_ == Clock::time_point()) {
    completions_since_ = now;
  }
  return now - completions_since_ > kCompletionDelay;
}

bool Session::flush() {
  completions_since_ = {};
  state_->outbox.append_completions();
  write_blocked_ = false;
  const std::size_t before = sender_.unsent_bytes();
  if (transport_ == nullptr || before == 0) {
    return false;
  }
  auto all = sender_.flush(*transport_);
  if (!all) {
    hear_last_words();
    detach(all.error());
    return true;
  }
  write_blocked_ = !*all;
  return sender_.unsent_bytes() < before;
}

/// Nothing can be written any more; what the client said before (that it is leaving) may still wait to be read.
void Session::hear_last_words() {
  for (std::size_t heard = 1, total = 0; heard != 0 && total < kMaxLastWordsBytes; total += heard) {
    heard = receiver_.poll(*transport_, *this).value_or(0); // what is broken will be seen again after the resume
  }
}

void Session::rest() {
  if (spin()) {
    return;
  }
  if (transport_ != nullptr && receiver_.received_sequence().load(std::memory_order_relaxed) > sender_.sent_acknowledgement()) {
    sender_.append_acknowledgement();
    bytes_since_acknowledgement_ = 0;
    flush();
  }
  if (config_.permit != nullptr) {
    config_.permit->release();
  }
  sleep();
}

/// True when something has come. The permit stays taken until the thread sleeps.
bool Session::spin() {
  if (config_.permit == nullptr || config_.spin.count() == 0 || transport_ == nullptr || !config_.permit->try_acquire()) {
    return false;
  }
  const auto start = Clock::now();
  const auto look_interval = transport_->looks_are_free() ? 0ns : kTransportPollInterval;
  auto next_look = start + look_interval;
  while (true) {
    if (control_.has_mail() || (mail_.has_mail() && !backed_up())) {
      return true;
    }
    const auto now = Clock::now();
    if (now >= next_look) {
      if (receive() || (write_blocked_ && flush())) {
        return true;
      }
      if (now - start > config_.spin) {
        return false;
      }
      next_look = Clock::now() + look_interval;
    }
    cpu_relax();
  }
}

void Session::sleep() {
  Clock::duration limit = kLongestSleep;
  if (transport_ != nullptr) {
    net::Interest interest = net::Interest::kNone;
    if (sender_.unsent_bytes() <= kMaxUnsentBytes) {
      interest = interest | net::Interest::kReadable;
    }
    if (write_blocked_) {
      interest = interest | net::Interest::kWritable;
    }
    if (state_->streams.is_held_back()) {
      limit = net::kBulkLookEvery;
    }
    transport_->wait(interest, limit, &waker_);
    return;
  }
  limit = std::min<Clock::duration>(limit, patience_ends() - Clock::now());
  const auto limit_ms = std::chrono::ceil<std::chrono::milliseconds>(std::max<Clock::duration>(limit, 0s)).count();
  if (waker_.arm()) {
    pollfd descriptor{waker_.descriptor(), POLLIN, 0};
    ::poll(&descriptor, 1, static_cast<int>(limit_ms));
    waker_.disarm();
  }
  (void)waker_.consume();
}

Session::Clock::time_point Session::patience_ends() const {
  if (!welcomed_) {
    return Clock::time_point::max(); // in reserve: the supervisor says when it is time for a first connection, or to end
  }
  return detached_since_ + (resumable_ ? std::chrono::seconds(state_->parts.limits.resume_seconds) : 0s);
}

bool Session::detached_too_long() const { return Clock::now() >= patience_ends(); }

/// What is still to be said is said, if the client listens within a moment.
void Session::say_farewell() {
  if (transport_ == nullptr) {
    return;
  }
  if (!farewell_.empty()) {
    state_->outbox.send(protocol::SessionFailed{farewell_.substr(0, protocol::kMaxSentenceBytes)});
  }
  const auto until = Clock::now() + kFarewellTime;
  for (auto all = sender_.flush(*transport_); all && !*all && Clock::now() < until; all = sender_.flush(*transport_)) {
    transport_->wait(net::Interest::kWritable, until - Clock::now(), nullptr);
  }
  transport_->shutdown();
  transport_.reset();
}

} // namespace farcl::daemon
