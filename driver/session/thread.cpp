#include "driver/session/thread.hpp"

#include <exception>

namespace farcl::driver {

std::thread start_thread(const char* name, std::function<void()> main) {
  const SignalsBlocked blocked;
  return std::thread([name, main = std::move(main)] {
    pthread_setname_np(pthread_self(), name);
    try {
      main();
    } catch (const std::exception&) { // a thread of a guest ends quietly: waits have their own ends
    }
  });
}

void start_detached_thread(const char* name, std::function<void()> main) { start_thread(name, std::move(main)).detach(); }

} // namespace farcl::driver
