// The one thread of the process that runs the program's callbacks: event callbacks, pfn_notify, destructor callbacks.
//
// Started at the first callback, detached, never joined. Callbacks run one after another in the order in which they were posted; a
// callback that blocks holds up later callbacks and nothing else. All signals are blocked on it.
#pragma once

#include <functional>

namespace farcl::driver {

void post_callback(std::function<void()> callback);

/// The same order, but only counted once the callbacks posted before are done. For tests.
void wait_for_callbacks();

} // namespace farcl::driver
