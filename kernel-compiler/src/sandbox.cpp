#include "sandbox.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace farcl::kernel_compiler {
namespace {

/// Deep recursion in clang is normal; the gap below a main thread's stack is at least 128 MiB.
constexpr rlim_t kStackBytes = 100ULL << 20;
/// Processor time beyond the wall-clock limit: the parent's kill comes first.
constexpr rlim_t kSpareSeconds = 5;

bool limit(int resource, rlim_t value) {
  rlimit old{};
  ::getrlimit(resource, &old);
  const rlim_t allowed = old.rlim_max == RLIM_INFINITY ? value : std::min(value, old.rlim_max);
  const rlimit now{allowed, resource == RLIMIT_STACK ? old.rlim_max : allowed};
  return ::setrlimit(resource, &now) == 0;
}

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  ::close(STDIN_FILENO);
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : kept) {
    const auto one = static_cast<unsigned>(fd);
    if (one > first) {
      ::syscall(SYS_close_range, first, one - 1, 0U);
    }
    first = one + 1;
  }
  ::syscall(SYS_close_range, first, ~0U, 0U);
}

/// An empty rule set: no path can be opened any more (descriptors, also through /proc/self/fd, stay usable).
void forbid_files() {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1; // everything the first version of Landlock knows
  const long rules = ::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes.handled_access_fs, 0U);
  if (rules >= 0) {
    ::syscall(SYS_landlock_restrict_self, static_cast<int>(rules), 0U);
    ::close(static_cast<int>(rules));
  }
}

/// Calls that a compiler never makes fail with EPERM.
void forbid_system_calls() {
  constexpr std::array<unsigned, 16> kForbidden = {
      SYS_execve, SYS_execveat, SYS_socket, SYS_socketpair, SYS_connect, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
      SYS_fork,   SYS_vfork,    SYS_kill,   SYS_tkill,      SYS_mount,   SYS_bpf,    SYS_io_uring_setup,   SYS_userfaultfd};
  std::array<sock_filter, 3 + 2 * kForbidden.size() + 1> program{};
  std::size_t at = 0;
  program[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  program[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, static_cast<std::uint8_t>(2 * kForbidden.size() + 1));
  program[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (const unsigned number : kForbidden) {
    program[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    program[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  program[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog filter{static_cast<unsigned short>(at), program.data()};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

} // namespace

Status enter_sandbox(pid_t parent, const BuildLimits& limits, const std::vector<int>& kept) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    return fail(ErrorCode::kClosed, "the compile service is gone");
  }
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGSEGV, SIGABRT}) {
    ::signal(signal, SIG_DFL);
  }
  // What LLVM says on its way out is not for the operator: the source decides how often it is said.
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    ::dup2(nowhere, STDERR_FILENO);
  }
  close_all_but(kept);
  const bool limited = limit(RLIMIT_CORE, 0) && limit(RLIMIT_CPU, static_cast<rlim_t>(limits.wall.count()) + kSpareSeconds) &&
                       limit(RLIMIT_AS, limits.memory_bytes) && limit(RLIMIT_FSIZE, limits.output_bytes) &&
                       limit(RLIMIT_STACK, kStackBytes);
  if (!limited) {
    return fail_errno(errno, "setrlimit");
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  forbid_files();
  forbid_system_calls();
  return {};
}

} // namespace farcl::kernel_compiler
