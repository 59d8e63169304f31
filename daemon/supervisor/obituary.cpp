#include "daemon/supervisor/obituary.hpp"

#include <algorithm>
#include <csignal>

namespace farcl::daemon {

namespace {
/// Plain words for the signals that a kernel can cause; strsignal's depend on the locale.
std::string name_of_signal(int number) {
  switch (number) {
  case SIGSEGV: return "segmentation fault";
  case SIGBUS: return "bus error";
  case SIGILL: return "illegal instruction";
  case SIGFPE: return "arithmetic fault";
  case SIGABRT: return "aborted";
  case SIGTRAP: return "trap";
  default: return "signal " + std::to_string(number);
  }
}

bool is_a_fault(int number) { return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGTRAP; }

/// The kernel that faulted: the one the worker's fault handler named, else the only one that ran.
std::string faulted_kernel(const WorkerPage& page) {
  const auto running = read_running(page);
  const std::uint32_t named = page.faulted_slot.load(std::memory_order_acquire);
  for (const auto& one : running) {
    if (named == one.slot + 1) {
      return "kernel '" + one.name + "'";
    }
  }
  return running.empty() ? std::string() : describe_running(page);
}
} // namespace

std::string describe_running(const WorkerPage& page) {
  const auto running = read_running(page);
  if (running.empty()) {
    return {};
  }
  const auto oldest =
      std::min_element(running.begin(), running.end(), [](const auto& a, const auto& b) { return a.since_ns < b.since_ns; });
  if (running.size() == 1) {
    return "kernel '" + oldest->name + "'";
  }
  return "kernel '" + oldest->name + "' (or one of " + std::to_string(running.size() - 1) + " others)";
}

std::string describe_death(const ChildEnd& end, const WorkerPage& page) {
  if (std::string words = read_last_words(page); !words.empty()) {
    return words;
  }
  if (!end.by_signal) {
    return "the session's process failed (exit code " + std::to_string(end.value) + ")";
  }
  if (is_a_fault(end.value)) {
    const std::string kernel = faulted_kernel(page);
    return (kernel.empty() ? std::string("the session's process") : kernel) + " crashed (" + name_of_signal(end.value) + ")";
  }
  if (end.value == SIGKILL) {
    return "the session's process was killed (signal 9), perhaps because the machine ran out of memory";
  }
  return "the session's process was ended (" + name_of_signal(end.value) + ")";
}

void ObituaryTable::add(const protocol::SessionId& session, const SessionSecret& secret, std::string sentence, Clock::time_point now) {
  while (!obituaries_.empty() && (obituaries_.size() >= kMaxObituaries || obituaries_.front().forget_at <= now)) {
    obituaries_.pop_front();
  }
  obituaries_.push_back({session, secret, std::move(sentence), now + keep_for_});
}

std::optional<std::string> ObituaryTable::find(const protocol::SessionId& session, const protocol::HelloBytes& hello,
                                               Clock::time_point now) {
  const auto found = std::find_if(obituaries_.begin(), obituaries_.end(), [&](const Obituary& one) { return one.session == session; });
  if (found == obituaries_.end() || !net::proves_session(hello, found->secret) || found->forget_at <= now) {
    return std::nullopt;
  }
  return found->sentence;
}

} // namespace farcl::daemon
