#include "driver/objects/queue.hpp"

#include "driver/session/session.hpp"
#include "driver/validate/device_limits.hpp"

namespace farcl::driver {

CommandQueue::CommandQueue(Context& context, Device& device, cl_command_queue_properties properties,
                           std::vector<cl_queue_properties> properties_array)
    : context_(&context), device_(device), id_(context.session().new_id<protocol::QueueId>()), properties_(properties),
      properties_array_(std::move(properties_array)), limits_(validate::nd_range_limits(device)) {
  session().set_owner(protocol::ObjectKind::kQueue, id_.value, &context);
  session().add_queue(*this);
  (void)session().post(protocol::CreateQueue{id_, context.id(), device.index(), out_of_order(), profiling()});
}

CommandQueue::~CommandQueue() { session().remove_queue(*this); }

} // namespace farcl::driver
