// Events: waiting, callbacks, user events.
#include "driver/objects/event.hpp"
#include "driver/api/with_object.hpp"
#include "driver/session/session.hpp"
#include "driver/validate/lists.hpp"

namespace farcl::driver::entry {

cl_int CL_API_CALL clWaitForEvents(cl_uint num_events, const cl_event* event_list) {
  return guard(Entry::clWaitForEvents, [&]() -> cl_int {
    if (const cl_int code = validate::event_list(num_events, event_list); code != CL_SUCCESS) {
      return code;
    }
    return Event::from(event_list[0])->session().wait_for_events({num_events, event_list});
  });
}

cl_int CL_API_CALL clRetainEvent(cl_event event) { return retain_object<Event>(Entry::clRetainEvent, event, CL_INVALID_EVENT); }

cl_int CL_API_CALL clReleaseEvent(cl_event event) {
  return with_object<Event>(Entry::clReleaseEvent, event, CL_INVALID_EVENT, [&](Event& object) -> cl_int {
    const Ref<Event> kept(&object);
    if (!object.release_api()) {
      return CL_INVALID_EVENT;
    }
    if (object.status() != CL_COMPLETE) {
      object.report_if_unseen();
    }
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int type, void(CL_CALLBACK* pfn_notify)(cl_event, cl_int, void*),
                                      void* user_data) {
  return with_object<Event>(Entry::clSetEventCallback, event, CL_INVALID_EVENT, [&](Event& object) -> cl_int {
    if (pfn_notify == nullptr || (type != CL_SUBMITTED && type != CL_RUNNING && type != CL_COMPLETE)) {
      return CL_INVALID_VALUE;
    }
    object.add_callback(type, pfn_notify, user_data);
    return CL_SUCCESS;
  });
}

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* errcode_ret) {
  return guard_create(Entry::clCreateUserEvent, errcode_ret, [&]() -> ApiResult<cl_event> {
    Context* object = Context::from(context);
    if (object == nullptr) {
      return api_error(CL_INVALID_CONTEXT);
    }
    ServerSession& session = object->session();
    Event* event = Event::create(*object, nullptr, session.new_id<protocol::EventId>(), CL_COMMAND_USER);
    if (const cl_int code = session.add_user_event(*event); code != CL_SUCCESS) {
      (void)event->release_api();
      return api_error(code);
    }
    return event->handle();
  });
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int execution_status) {
  return guard(Entry::clSetUserEventStatus, [&]() -> cl_int {
    Event* object = Event::from(event);
    if (object == nullptr || !object->is_user_event()) {
      return CL_INVALID_EVENT;
    }
    if (execution_status > CL_COMPLETE) {
      return CL_INVALID_VALUE;
    }
    if (!object->finish(execution_status)) {
      return CL_INVALID_OPERATION;
    }
    object->session().user_event_set(*object, execution_status);
    return CL_SUCCESS;
  });
}

} // namespace farcl::driver::entry
