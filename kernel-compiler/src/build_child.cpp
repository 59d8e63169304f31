#include "build_child.hpp"

#include "cache.hpp"

#include <llvm/Support/ErrorHandling.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
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

[[noreturn]] void run_child(Compiler& compiler, const CompileRequest& request, const BuildLimits& limits, bool may_optimise, pid_t parent,
                            int reply_fd, int object_fd) {
  if (!enter_sandbox(parent, limits, reply_fd, object_fd)) {
    ::_exit(1);
  }
  llvm::install_fatal_error_handler(&on_fatal_error, reinterpret_cast<void*>(static_cast<std::intptr_t>(reply_fd)));
  llvm::install_bad_alloc_error_handler(&on_out_of_memory, nullptr);
  const CompileReplyData reply = compiler.compile(request, object_fd, may_optimise);
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

Result<BuildChild> BuildChild::start(Compiler& compiler, const CompileRequest& request, const BuildLimits& limits, bool may_optimise) {
  BuildChild child;
  child.reply_.reset(::memfd_create("farcl-reply", MFD_CLOEXEC));
  child.shared_object_.reset(::memfd_create("farcl-object", MFD_CLOEXEC));
  if (!child.reply_ || !child.shared_object_) {
    return fail_errno(errno, "memfd_create");
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail_errno(errno, "fork");
  }
  if (pid == 0) {
    run_child(compiler, request, limits, may_optimise, parent, child.reply_.get(), child.shared_object_.get());
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

BuildChild::BuildChild(BuildChild&& other) noexcept { *this = std::move(other); }

BuildChild& BuildChild::operator=(BuildChild&& other) noexcept {
  if (this != &other) {
    kill_and_reap();
    pid_ = std::exchange(other.pid_, -1);
    process_ = std::move(other.process_);
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
