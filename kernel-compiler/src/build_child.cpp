#include "build_child.hpp"

#include "cache.hpp"

#include <llvm/Support/ErrorHandling.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace farcl::kernel_compiler {
namespace {

constexpr int kExitOutOfMemory = 3;
constexpr std::uint64_t kMaxSharedObjectBytes = 256ULL << 20;

/// LLVM's own way out of a situation that it cannot handle: a sentence in the log instead of an abort.
void on_fatal_error(void* reply_fd, const char* reason, bool) {
  CompileReplyData reply;
  reply.log = std::string("error: the compiler gave up: ") + reason + "\n";
  const ByteVector bytes = encode(reply);
  const ssize_t written = ::write(static_cast<int>(reinterpret_cast<std::intptr_t>(reply_fd)), bytes.data(), bytes.size());
  ::_exit(written == static_cast<ssize_t>(bytes.size()) ? 0 : 1);
}

/// There may be no memory left for a sentence: the exit code says it.
void on_out_of_memory(void*, const char*, bool) { ::_exit(kExitOutOfMemory); }

struct Order {
  CompileRequest request;
  bool may_optimise = true;
  static constexpr auto fields() { return std::tuple(field("request", &Order::request), field("may_optimise", &Order::may_optimise)); }
};

struct ChildEnds {
  int talk;
  int order;
  int reply;
  int object;
};

[[noreturn]] void run_child(Compiler& compiler, const BuildLimits& limits, bool warm, pid_t parent, const ChildEnds& ends) {
  if (!enter_sandbox(parent, limits, {ends.talk, ends.order, ends.reply, ends.object})) {
    ::_exit(1);
  }
  const int reply_fd = ends.reply;
  llvm::install_fatal_error_handler(&on_fatal_error, reinterpret_cast<void*>(static_cast<std::intptr_t>(reply_fd)));
  llvm::install_bad_alloc_error_handler(&on_out_of_memory, nullptr);
  char byte = 1;
  ::prctl(PR_SET_NAME, "kc-spare"); // for people who look at processes
  if (warm) {
    compiler.warm_up();
    (void)!::write(ends.talk, &byte, 1);
  }
  Order order;
  if (::read(ends.talk, &byte, 1) != 1) {
    ::_exit(1); // the service is gone
  }
  ::prctl(PR_SET_NAME, "kc-build");
  if (const auto bytes = read_file(ends.order, kMaxMessageBytes); !bytes || !Reader(*bytes).read(order)) {
    ::_exit(1);
  }
  const CompileReplyData reply = compiler.compile(order.request, ends.object, order.may_optimise);
  const ByteVector bytes = encode(reply);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t written = ::write(reply_fd, bytes.data() + at, bytes.size() - at);
    if (written <= 0) {
      ::_exit(1);
    }
    at += static_cast<std::size_t>(written);
  }
  ::_exit(0);
}

double milliseconds(const timeval& time) { return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3; }

/// The parent never maps what the child wrote: it copies it once into a file that nobody can change any more.
Result<UniqueFd> seal_copy(int fd) {
  auto bytes = read_file(fd, kMaxSharedObjectBytes);
  if (!bytes) {
    return pass_on(std::move(bytes));
  }
  return sealed_file(*bytes);
}

} // namespace

Result<BuildChild> BuildChild::prepare(Compiler& compiler, const BuildLimits& limits, bool warm) {
  BuildChild child;
  child.order_.reset(::memfd_create("farcl-order", MFD_CLOEXEC));
  child.reply_.reset(::memfd_create("farcl-reply", MFD_CLOEXEC));
  child.shared_object_.reset(::memfd_create("farcl-object", MFD_CLOEXEC));
  if (!child.order_ || !child.reply_ || !child.shared_object_) {
    return fail_errno(errno, "memfd_create");
  }
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_errno(errno, "socketpair");
  }
  child.talk_.reset(ends[0]);
  const UniqueFd childs_end(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail_errno(errno, "fork");
  }
  if (pid == 0) {
    run_child(compiler, limits, warm, parent, {childs_end.get(), child.order_.get(), child.reply_.get(), child.shared_object_.get()});
  }
  child.pid_ = pid;
  child.limit_ = limits.wall;
  child.deadline_ = std::chrono::steady_clock::now() + limits.wall;
  child.process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.process_) {
    return fail_errno(errno, "pidfd_open");
  }
  return child;
}

bool BuildChild::is_ready() const {
  pollfd said{talk_.get(), POLLIN, 0};
  return !has_ended() && ::poll(&said, 1, 0) > 0;
}

bool BuildChild::has_ended() const {
  pollfd ended{process_.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

Status BuildChild::give(const CompileRequest& request, bool may_optimise) {
  deadline_ = std::chrono::steady_clock::now() + limit_;
  if (auto written = write_all(order_.get(), encode(Order{request, may_optimise})); !written) {
    return written;
  }
  const char byte = 1;
  return ::send(talk_.get(), &byte, 1, MSG_NOSIGNAL) == 1 ? Status() : Status(fail_errno(errno, "telling a build child to begin"));
}

BuildChild::BuildChild(BuildChild&& other) noexcept { *this = std::move(other); }

BuildChild& BuildChild::operator=(BuildChild&& other) noexcept {
  if (this != &other) {
    kill_and_reap();
    pid_ = std::exchange(other.pid_, -1);
    process_ = std::move(other.process_);
    talk_ = std::move(other.talk_);
    order_ = std::move(other.order_);
    reply_ = std::move(other.reply_);
    shared_object_ = std::move(other.shared_object_);
    deadline_ = other.deadline_;
    limit_ = other.limit_;
  }
  return *this;
}

BuildChild::~BuildChild() { kill_and_reap(); }

void BuildChild::kill_and_reap() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
}

BuildChild::Outcome BuildChild::died(const std::string& how) const {
  Outcome outcome;
  outcome.compiler_died = true;
  outcome.data.log = "error: " + how + "\n";
  return outcome;
}

BuildChild::Outcome BuildChild::finish(bool timed_out) {
  if (timed_out) {
    kill_and_reap();
    return died("the compiler did not finish within " + std::to_string(limit_.count()) + " s");
  }
  int status = 0;
  rusage usage{};
  while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return died(signal == SIGXCPU || signal == SIGKILL ? "the compiler used up its time or memory"
                                                       : std::string("the compiler crashed (") + ::strsignal(signal) + ")");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kExitOutOfMemory) {
    return died("the compiler ran out of memory");
  }
  Outcome outcome;
  outcome.processor_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
  const auto bytes = read_file(reply_.get(), kMaxMessageBytes);
  if (WEXITSTATUS(status) != 0 || !bytes || !Reader(*bytes).read(outcome.data)) {
    return died("the compiler failed without an answer (is the program too large for its memory?)");
  }
  if (outcome.data.has_shared_object) {
    auto sealed = seal_copy(shared_object_.get());
    if (!sealed) {
      return died("the compiled program could not be taken over: " + sealed.error().message);
    }
    outcome.shared_object = std::move(*sealed);
  }
  return outcome;
}

} // namespace farcl::kernel_compiler
