// Contexts, queues, memory objects, events.
#include "driver/info/info.hpp"
#include "driver/session/session.hpp"

#include <vector>

namespace farcl::driver {
namespace {

constexpr InfoRow<Context> kContextRows[] = {
    {CL_CONTEXT_REFERENCE_COUNT, [](Context& context, const InfoSink& sink) { return sink.value(context.reference_count()); }},
    {CL_CONTEXT_NUM_DEVICES,
     [](Context& context, const InfoSink& sink) { return sink.value(static_cast<cl_uint>(context.devices().size())); }},
    {CL_CONTEXT_DEVICES,
     [](Context& context, const InfoSink& sink) {
       std::vector<cl_device_id> handles;
       for (Device* device : context.devices()) {
         handles.push_back(device->handle());
       }
       return sink.array(handles);
     }},
    {CL_CONTEXT_PROPERTIES, [](Context& context, const InfoSink& sink) { return sink.array(context.properties()); }},
};

constexpr InfoRow<CommandQueue> kQueueRows[] = {
    {CL_QUEUE_CONTEXT, [](CommandQueue& queue, const InfoSink& sink) { return sink.value(queue.context().handle()); }},
    {CL_QUEUE_DEVICE, [](CommandQueue& queue, const InfoSink& sink) { return sink.value(queue.device().handle()); }},
    {CL_QUEUE_REFERENCE_COUNT, [](CommandQueue& queue, const InfoSink& sink) { return sink.value(queue.reference_count()); }},
    {CL_QUEUE_PROPERTIES, [](CommandQueue& queue, const InfoSink& sink) { return sink.value(queue.properties()); }},
    {CL_QUEUE_PROPERTIES_ARRAY, [](CommandQueue& queue, const InfoSink& sink) { return sink.array(queue.properties_array()); }},
    // Only a queue on the device has a size, and none is one.
    {CL_QUEUE_SIZE, [](CommandQueue&, const InfoSink&) -> cl_int { return CL_INVALID_COMMAND_QUEUE; }},
    {CL_QUEUE_DEVICE_DEFAULT, [](CommandQueue&, const InfoSink& sink) { return sink.value(cl_command_queue{nullptr}); }},
};

constexpr InfoRow<Mem> kMemoryRows[] = {
    {CL_MEM_TYPE, [](Mem& memory, const InfoSink& sink) { return sink.value(memory.type()); }},
    {CL_MEM_FLAGS, [](Mem& memory, const InfoSink& sink) { return sink.value(memory.flags()); }},
    {CL_MEM_SIZE, [](Mem& memory, const InfoSink& sink) { return sink.value(static_cast<std::size_t>(memory.size_bytes())); }},
    {CL_MEM_HOST_PTR, [](Mem& memory, const InfoSink& sink) { return sink.value(memory.host_ptr()); }},
    {CL_MEM_MAP_COUNT, [](Mem& memory, const InfoSink& sink) { return sink.value(memory.map_count()); }},
    {CL_MEM_REFERENCE_COUNT, [](Mem& memory, const InfoSink& sink) { return sink.value(memory.reference_count()); }},
    {CL_MEM_CONTEXT, [](Mem& memory, const InfoSink& sink) { return sink.value(memory.context().handle()); }},
    {CL_MEM_ASSOCIATED_MEMOBJECT,
     [](Mem& memory, const InfoSink& sink) {
       return sink.value(memory.parent() != nullptr ? memory.parent()->handle() : cl_mem{nullptr});
     }},
    {CL_MEM_OFFSET, [](Mem& memory, const InfoSink& sink) { return sink.value(static_cast<std::size_t>(memory.origin())); }},
    {CL_MEM_USES_SVM_POINTER, [](Mem&, const InfoSink& sink) { return sink.value(cl_bool{CL_FALSE}); }},
    {CL_MEM_PROPERTIES, [](Mem& memory, const InfoSink& sink) { return sink.array(memory.properties_array()); }},
};

constexpr InfoRow<Event> kEventRows[] = {
    {CL_EVENT_COMMAND_QUEUE,
     [](Event& event, const InfoSink& sink) {
       return sink.value(event.queue() != nullptr ? event.queue()->handle() : cl_command_queue{nullptr});
     }},
    {CL_EVENT_CONTEXT, [](Event& event, const InfoSink& sink) { return sink.value(event.context().handle()); }},
    {CL_EVENT_COMMAND_TYPE, [](Event& event, const InfoSink& sink) { return sink.value(event.command_type()); }},
    {CL_EVENT_COMMAND_EXECUTION_STATUS,
     [](Event& event, const InfoSink& sink) {
       if (!event.is_final() && !event.is_user_event()) {
         event.session().poll_event();
       }
       const cl_int status = event.status();
       const cl_int code = sink.value(status);
       if (code == CL_SUCCESS && sink.memory() != nullptr && status <= CL_COMPLETE) { // asking for the size tells nothing
         event.mark_seen();
       }
       return code;
     }},
    {CL_EVENT_REFERENCE_COUNT, [](Event& event, const InfoSink& sink) { return sink.value(event.reference_count()); }},
};

template <std::uint64_t ProfilingTimes::* kTime>
cl_int answer_time(Event& event, const InfoSink& sink) {
  return sink.value(cl_ulong{event.times().*kTime});
}
constexpr InfoRow<Event> kProfilingRows[] = {
    {CL_PROFILING_COMMAND_QUEUED, answer_time<&ProfilingTimes::queued_ns>},
    {CL_PROFILING_COMMAND_SUBMIT, answer_time<&ProfilingTimes::submitted_ns>},
    {CL_PROFILING_COMMAND_START, answer_time<&ProfilingTimes::started_ns>},
    {CL_PROFILING_COMMAND_END, answer_time<&ProfilingTimes::ended_ns>},
    {CL_PROFILING_COMMAND_COMPLETE, answer_time<&ProfilingTimes::ended_ns>}, // no command has children
};

} // namespace

cl_int context_info(Context& context, cl_context_info name, const InfoSink& sink) { return answer(kContextRows, context, name, sink); }

cl_int queue_info(CommandQueue& queue, cl_command_queue_info name, const InfoSink& sink) { return answer(kQueueRows, queue, name, sink); }

cl_int memory_info(Mem& memory, cl_mem_info name, const InfoSink& sink) { return answer(kMemoryRows, memory, name, sink); }

cl_int event_info(Event& event, cl_event_info name, const InfoSink& sink) { return answer(kEventRows, event, name, sink); }

cl_int event_profiling_info(Event& event, cl_profiling_info name, const InfoSink& sink) {
  if (!event.is_user_event() && !event.is_final()) {
    event.session().poll_event();
  }
  if (event.is_user_event() || !event.queue()->profiling() || event.status() != CL_COMPLETE || !event.has_times()) {
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  }
  return answer(kProfilingRows, event, name, sink);
}

} // namespace farcl::driver
