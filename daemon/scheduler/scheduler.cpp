#include "daemon/scheduler/scheduler.hpp"

#include <utility>

namespace farcl::daemon {

namespace {
/// A recycled command keeps its vectors up to this many elements; a single large command must not pin memory.
constexpr std::size_t kKeptElements = 64;

template <class Vector>
void recycle_vector(Vector& vector) {
  vector.clear();
  if (vector.capacity() > kKeptElements) {
    Vector().swap(vector);
  }
}
} // namespace

Command& Scheduler::new_command() {
  if (free_commands_.empty()) {
    return commands_.emplace_back();
  }
  Command& command = *free_commands_.back();
  free_commands_.pop_back();
  return command;
}

void Scheduler::recycle(Command& command) {
  command.edges = command.last_edge = nullptr;
  command.unmet = 0;
  command.entered = command.running = command.awaits_bytes = command.announced = command.notify = false;
  command.failure = CL_SUCCESS;
  command.ready_next = command.queue_previous = command.queue_next = nullptr;
  command.queue.reset();
  command.event = {};
  command.times = {};
  command.work.emplace<MarkerWork>();
  recycle_vector(command.arguments);
  recycle_vector(command.values);
  command.staging.reset();
  command.share = {};
  recycle_vector(command.buffers);
  command.program.reset();
  free_commands_.push_back(&command);
}

Edge* Scheduler::new_edge() {
  ++live_edges_;
  if (free_edges_ == nullptr) {
    return &edge_blocks_.emplace_back();
  }
  return std::exchange(free_edges_, free_edges_->next);
}

void Scheduler::depend(Command& earlier, Command& later, bool carries_failure) {
  Edge* edge = new_edge();
  *edge = {&later, nullptr, carries_failure};
  (earlier.edges != nullptr ? earlier.last_edge->next : earlier.edges) = edge;
  earlier.last_edge = edge;
  ++later.unmet;
}

void Scheduler::release(Command& command) {
  if (--command.unmet == 0 && command.entered) {
    push_ready(command);
  }
}

Status Scheduler::enter(Command& command, std::span<const protocol::EventId> wait_list, Ordering ordering, bool barrier) {
  if (command.event && events_.insert(command.event, Event{&command, CL_COMPLETE}) == nullptr) {
    recycle(command);
    return fail(ErrorCode::kInvalid, "an event id that is in use");
  }
  // Beyond a limit the command fails at once, outside its queue's order: it must not take part in what it overloads.
  if (in_flight_ >= limits_.commands || events_.size() > limits_.events || live_edges_ + wait_list.size() > limits_.edges) {
    command.failure = CL_OUT_OF_RESOURCES;
  } else {
    wait_for(command, wait_list);
    if (command.queue != nullptr) {
      order_in_queue(command, ordering, barrier);
      append_to_queue(command);
    }
  }
  command.entered = true;
  ++in_flight_;
  if (command.unmet == 0) {
    push_ready(command);
  }
  return {};
}

void Scheduler::wait_for(Command& command, std::span<const protocol::EventId> wait_list) {
  for (const protocol::EventId id : wait_list) {
    const Event* event = events_.find(id);
    if (event == nullptr) {
      command.failure = command.failure == CL_SUCCESS ? CL_INVALID_EVENT_WAIT_LIST : command.failure;
    } else if (event->command == &command) {
      command.failure = CL_INVALID_EVENT_WAIT_LIST; // itself: would never end
    } else if (event->command != nullptr) {
      depend(*event->command, command, true);
    } else if (event->status < 0 && command.failure == CL_SUCCESS) {
      command.failure = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
  }
}

void Scheduler::order_in_queue(Command& command, Ordering ordering, bool barrier) {
  Queue& queue = *command.queue;
  if (!queue.out_of_order) {
    if (queue.last != nullptr) {
      depend(*queue.last, command, false);
    }
    return;
  }
  if (ordering == Ordering::kWaitsForAll) {
    // Everything before the last such command is covered by that one, so each command gets at most one edge from here.
    for (Command* one = queue.sync != nullptr ? queue.sync : queue.first; one != nullptr; one = one->queue_next) {
      depend(*one, command, false);
    }
    queue.sync = &command;
  } else if (queue.barrier != nullptr) {
    depend(*queue.barrier, command, false);
  }
  if (barrier) {
    queue.barrier = &command;
  }
}

void Scheduler::append_to_queue(Command& command) {
  Queue& queue = *command.queue;
  command.queue_previous = queue.last;
  command.queue_next = nullptr;
  (queue.last != nullptr ? queue.last->queue_next : queue.first) = &command;
  queue.last = &command;
}

void Scheduler::remove_from_queue(Command& command) {
  Queue& queue = *command.queue;
  if (queue.first != &command && command.queue_previous == nullptr) {
    return; // it failed at a limit and never stood in the queue
  }
  (command.queue_previous != nullptr ? command.queue_previous->queue_next : queue.first) = command.queue_next;
  (command.queue_next != nullptr ? command.queue_next->queue_previous : queue.last) = command.queue_previous;
  queue.sync = queue.sync == &command ? nullptr : queue.sync;
  queue.barrier = queue.barrier == &command ? nullptr : queue.barrier;
}

void Scheduler::push_ready(Command& command) {
  command.ready_next = nullptr;
  (ready_last_ != nullptr ? ready_last_->ready_next : ready_first_) = &command;
  ready_last_ = &command;
}

void Scheduler::start_ready() {
  while (ready_first_ != nullptr) {
    Command& command = *ready_first_;
    ready_first_ = command.ready_next;
    if (ready_first_ == nullptr) {
      ready_last_ = nullptr;
    }
    if (command.failure != CL_SUCCESS) {
      complete(command, command.failure);
    } else {
      command.running = true;
      runner_.start(command);
    }
  }
}

void Scheduler::complete(Command& command, cl_int status) {
  for (Edge* edge = command.edges; edge != nullptr;) {
    Command& later = *edge->later;
    if (edge->carries_failure && status < 0 && later.failure == CL_SUCCESS) {
      later.failure = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    release(later);
    Edge* next = edge->next;
    edge->next = free_edges_;
    free_edges_ = edge;
    --live_edges_;
    edge = next;
  }
  command.edges = nullptr;
  if (command.queue != nullptr) {
    remove_from_queue(command);
  }
  if (command.event) {
    if (Event* event = events_.find(command.event); event != nullptr && event->command == &command) {
      *event = {nullptr, status};
    }
  }
  --in_flight_;
  announce(command, status);
  recycle(command);
}

void Scheduler::announce(Command& command, cl_int status) {
  if (!command.announced) {
    command.announced = true;
    runner_.completed(command, status);
  }
}

bool Scheduler::set_user_event(protocol::EventId id, cl_int status) {
  Event* event = events_.find(id);
  if (event == nullptr || event->command == nullptr || !std::holds_alternative<UserEventWork>(event->command->work)) {
    return false;
  }
  complete(*event->command, status);
  return true;
}

bool Scheduler::release_event(protocol::EventId id) {
  Event* event = events_.find(id);
  if (event == nullptr) {
    return false;
  }
  if (event->command != nullptr && std::holds_alternative<UserEventWork>(event->command->work)) {
    // Nobody can set its status any more: what waits for it would wait for ever.
    complete(*event->command, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  }
  return events_.erase(id);
}

} // namespace farcl::daemon
