// `farcld --worker`: what the supervisor starts. Not for people.
#pragma once

namespace farcl::daemon {

/// Takes the inherited descriptors and the StartWorker message, then is a worker. Returns the exit code.
int worker_main();

} // namespace farcl::daemon
