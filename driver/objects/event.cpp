#include "driver/objects/event.hpp"

#include "driver/session/callback_thread.hpp"
#include "driver/session/session.hpp"

#include <algorithm>

namespace farcl::driver {

Event::Event(Context& context, CommandQueue* queue, protocol::EventId id, cl_command_type type)
    : context_(&context), queue_(queue), id_(id), command_type_(type), status_(queue == nullptr ? CL_SUBMITTED : CL_QUEUED) {}

Event::~Event() {
  if (announced_) {
    session().release_event(id_);
  }
}

void Event::add_callback(cl_int type, Function function, void* user_data) {
  auto callbacks = callbacks_.lock();
  // A failed command has reached every status. One that is complete has run.
  if (status() > type) {
    callbacks->push_back({type, function, user_data});
    return;
  }
  const cl_int reported = std::min(status(), type) < 0 ? status() : type;
  if (reported < 0) {
    mark_seen();
  }
  post_callback([event = Ref<Event>(this), function, reported, user_data] { function(event->handle(), reported, user_data); });
}

bool Event::finish(cl_int status, const protocol::CompletionTimes* times) {
  auto callbacks = callbacks_.lock();
  if (is_final()) {
    return false;
  }
  if (times != nullptr) {
    times_.ended_ns = times->ended_ns;
    times_.started_ns = std::min(times->started_ns, times_.ended_ns);
    times_.submitted_ns = std::min(times->submitted_ns, times_.started_ns);
    times_.queued_ns = std::min(queued_ns_ == 0 ? times_.submitted_ns : queued_ns_, times_.submitted_ns);
    has_times_ = true;
  }
  status_.store(status, std::memory_order_release);
  // CL_SUBMITTED before CL_RUNNING before CL_COMPLETE; those of one status in the order in which they were set.
  std::stable_sort(callbacks->begin(), callbacks->end(), [](const Callback& a, const Callback& b) { return a.type > b.type; });
  for (const Callback& one : *callbacks) {
    const cl_int reported = status < 0 ? status : one.type;
    post_callback([event = Ref<Event>(this), one, reported] { one.function(event->handle(), reported, one.user_data); });
  }
  if (!callbacks->empty()) {
    mark_seen(); // they get the status
  }
  callbacks->clear();
  return true;
}

void Event::report_if_unseen() {
  // finish() sets the status under this lock: of it and of the release, the one that comes here second sees what the first did.
  auto callbacks = callbacks_.lock();
  if (queue_ && status() < 0 && reference_count() == 0 && !seen_.exchange(true, std::memory_order_relaxed)) {
    queue_->add_hidden_failure(status());
  }
}

} // namespace farcl::driver
