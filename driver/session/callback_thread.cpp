#include "driver/session/callback_thread.hpp"

#include "driver/session/thread.hpp"
#include "farcl/base/mailbox.hpp"

#include <mutex>

namespace farcl::driver {

namespace {
constexpr std::chrono::hours kForEver{24};

Mailbox<std::function<void()>>& mailbox() {
  static auto* const box = new Mailbox<std::function<void()>>; // never destroyed: see the header
  return *box;
}

void run() {
  for (;;) {
    for (std::function<void()>& callback : mailbox().wait_take(kForEver)) {
      try {
        callback();
      } catch (...) { // the program's exception: it has nowhere to go
      }
      callback = nullptr; // lets go of what it held before the next one runs
    }
  }
}
} // namespace

void post_callback(std::function<void()> callback) {
  static std::once_flag started;
  std::call_once(started, [] { start_detached_thread("farcl-callback", run); });
  mailbox().post(std::move(callback));
}

void wait_for_callbacks() {
  std::mutex mutex;
  std::condition_variable condition;
  bool done = false;
  post_callback([&] {
    const std::lock_guard<std::mutex> held(mutex);
    done = true;
    condition.notify_all();
  });
  std::unique_lock<std::mutex> lock(mutex);
  condition.wait(lock, [&] { return done; });
}

} // namespace farcl::driver
