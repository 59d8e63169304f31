// A worker that does what its client asks for, one word per line: the real supervisor runs it in place of the real worker, so
// that tests can make a worker crash, hang, lie or talk nonsense at will. It welcomes like the real one; then each line of the
// client is an order, answered with one line.

#include "daemon/common/control_messages.hpp"
#include "daemon/worker/worker.hpp"
#include "farcl/protocol/hello.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace farcl::daemon {

namespace {
class ScriptedWorker {
public:
  explicit ScriptedWorker(WorkerStart start) : start_(std::move(start)) {}
  int run();

private:
  bool on_control();
  void on_client();
  bool obey(const std::string& order, const std::string& rest);
  bool obey_about_kernels(const std::string& order, const std::string& rest);
  bool obey_about_control(const std::string& order, const std::string& rest);
  void answer(const std::string& line);
  void end(const std::string& reason, bool failed);
  [[noreturn]] static void hang() {
    for (;;) {
      ::pause();
    }
  }

  WorkerStart start_;
  std::vector<UniqueFd> connection_;
  std::string received_;
  std::uint64_t lost_since_ns_ = 0;
  bool resumable_ = true;
  bool over_ = false;
};

int ScriptedWorker::run() {
  start_.page->set_state(WorkerState::kReady);
  while (!over_) {
    pollfd ready[2] = {{start_.control.get(), POLLIN, 0}, {connection_.empty() ? -1 : connection_[0].get(), POLLIN, 0}};
    ::poll(ready, 2, 50);
    if (ready[0].revents != 0 && !on_control()) {
      return 0;
    }
    if (ready[1].revents != 0 && !connection_.empty()) {
      on_client();
    }
    const std::uint64_t limit_ns = resumable_ ? start_.limits.resume_seconds * 1'000'000'000u : 0;
    if (connection_.empty() && lost_since_ns_ != 0 && monotonic_ns() - lost_since_ns_ > limit_ns) {
      end("its client did not come back", false);
    }
  }
  return 0;
}

bool ScriptedWorker::on_control() {
  auto packet = receive_control_packet(start_.control.get());
  auto message = packet && !packet->bytes.empty() ? decode_control<ToWorker>(packet->bytes)
                                                  : Result<ToWorker>(fail(ErrorCode::kClosed, "the supervisor has gone"));
  if (!message) {
    return false;
  }
  if (const auto* attach = std::get_if<AttachConnection>(&*message)) {
    connection_ = std::move(packet->fds);
    resumable_ = attach->resumable;
    protocol::HelloReply reply;
    reply.session = start_.session;
    reply.secret = start_.secret;
    reply.received = attach->received;
    const auto bytes = protocol::encode_hello_reply(reply);
    static_cast<void>(!::write(connection_.back().get(), bytes.data(), bytes.size()));
    start_.page->set_state(WorkerState::kServing);
  } else if (const auto* ending = std::get_if<EndSession>(&*message)) {
    answer(ending->sentence);
    end("told to end", false);
  }
  return true;
}

void ScriptedWorker::on_client() {
  char piece[4096];
  const ssize_t got = ::read(connection_[0].get(), piece, sizeof piece);
  if (got < 0 && errno == EAGAIN) {
    return; // what was ready was the connection before this one
  }
  if (got <= 0) {
    connection_.clear();
    lost_since_ns_ = monotonic_ns();
    return;
  }
  received_.append(piece, static_cast<std::size_t>(got));
  for (std::size_t end = received_.find('\n'); end != std::string::npos && !over_; end = received_.find('\n')) {
    const std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    const std::size_t space = line.find(' ');
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    answer(obey(line.substr(0, space), rest) ? "ok" : "unknown order");
  }
}

bool ScriptedWorker::obey(const std::string& order, const std::string& rest) {
  if (order == "pid") {
    answer(std::to_string(::getpid()));
  } else if (order == "words") {
    start_.page->leave_last_words(rest);
    std::abort();
  } else if (order == "exit") {
    std::_Exit(std::atoi(rest.c_str()));
  } else if (order == "goodbye") {
    end("the client said goodbye", false);
  } else if (order == "fail") {
    end(rest, true);
  } else if (order == "take-permits") {
    int taken = 0;
    while (start_.permits->take(start_.worker_number) >= 0) {
      ++taken;
    }
    answer(std::to_string(taken));
  } else if (order == "start-child") {
    const pid_t child = ::fork();
    if (child == 0) {
      hang();
    }
    answer(std::to_string(child));
  } else {
    return obey_about_kernels(order, rest) || obey_about_control(order, rest);
  }
  return true;
}

bool ScriptedWorker::obey_about_kernels(const std::string& order, const std::string& rest) {
  if (order == "run-kernel") {
    start_.page->running[0].begin(rest);
  } else if (order == "end-kernel") {
    start_.page->running[0].end();
  } else if (order == "crash") {
    std::signal(std::atoi(rest.c_str()), SIG_DFL); // the sanitizers have handlers of their own
    ::raise(std::atoi(rest.c_str()));
  } else if (order == "hang") {
    hang();
  } else if (order == "end-and-hang") {
    start_.page->set_state(WorkerState::kEnding);
    hang();
  } else if (order == "spoil-page") {
    std::memset(static_cast<void*>(start_.page), 0xff, sizeof *start_.page);
  } else {
    return false;
  }
  return true;
}

bool ScriptedWorker::obey_about_control(const std::string& order, const std::string&) {
  if (order == "talk-nonsense") {
    const std::byte nonsense[64] = {std::byte{0x7f}};
    static_cast<void>(send_control_packet(start_.control.get(), nonsense, {}));
  } else if (order == "close-control") {
    start_.control.reset();
    hang();
  } else if (order == "stop-reading-control") {
    answer("ok");
    while (!connection_.empty()) { // serves its client and never looks at its supervisor again
      pollfd ready{connection_[0].get(), POLLIN, 0};
      ::poll(&ready, 1, -1);
      on_client();
    }
  } else {
    return false;
  }
  return true;
}

void ScriptedWorker::answer(const std::string& line) {
  if (!connection_.empty()) {
    const std::string text = line + "\n";
    static_cast<void>(::send(connection_.back().get(), text.data(), text.size(), MSG_NOSIGNAL) < 0 &&
                      ::write(connection_.back().get(), text.data(), text.size()));
  }
}

void ScriptedWorker::end(const std::string& reason, bool failed) {
  over_ = true;
  start_.page->set_state(WorkerState::kEnding);
  static_cast<void>(send_to_supervisor(start_.control.get(), SessionEnded{reason, failed}));
}
} // namespace

int run_worker(WorkerStart start) { return ScriptedWorker(std::move(start)).run(); }

} // namespace farcl::daemon
