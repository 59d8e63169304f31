// Threads of the driver inside the program: detached, without signals, never part of the program's exit.
#pragma once

#include <functional>
#include <pthread.h>
#include <signal.h>
#include <thread>

namespace farcl::driver {

/// Blocks all signals for as long as it lives, so that a thread started meanwhile never handles one of the program's.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
  sigset_t before_{};
};

[[nodiscard]] std::thread start_thread(const char* name, std::function<void()> main);
void start_detached_thread(const char* name, std::function<void()> main);

} // namespace farcl::driver
