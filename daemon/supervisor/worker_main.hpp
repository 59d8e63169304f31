// `farcld --worker`: what the supervisor starts. Not for people.
#pragma once

namespace farcl::daemon {

/// Takes the inherited descriptors and the StartWorker message, then is a worker and leaves with its exit code. Returns one only
/// when it cannot become one.
int worker_main();

} // namespace farcl::daemon
