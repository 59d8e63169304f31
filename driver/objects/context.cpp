#include "driver/objects/context.hpp"

#include "driver/session/callback_thread.hpp"
#include "driver/session/session.hpp"

#include <algorithm>

namespace farcl::driver {

Context::Context(ServerSession& session, std::vector<Device*> devices, std::vector<cl_context_properties> properties,
                 ContextNotify pfn_notify, void* user_data)
    : session_(session), id_(session.new_id<protocol::ContextId>()), devices_(std::move(devices)), properties_(std::move(properties)),
      pfn_notify_(pfn_notify), user_data_(user_data) {
  protocol::CreateContext message{id_, {}};
  for (const Device* device : devices_) {
    message.devices.push_back(device->index());
  }
  session_.set_owner(protocol::ObjectKind::kContext, id_.value, this);
  (void)session_.post(message); // a server that has just died is found out by the next call
}

Context::~Context() {
  session_.release(protocol::ObjectKind::kContext, id_.value);
  auto destructors = destructors_.with([](auto& list) { return std::move(list); });
  // In reverse order, as the specification says. The handle is only a name by now.
  for (auto one = destructors.rbegin(); one != destructors.rend(); ++one) {
    post_callback([function = one->function, context = handle(), user_data = one->user_data] { function(context, user_data); });
  }
}

bool Context::has_device(const Device* device) const noexcept {
  return std::find(devices_.begin(), devices_.end(), device) != devices_.end();
}

void Context::notify(std::string sentence) {
  if (pfn_notify_ != nullptr) {
    post_callback(
        [self = Ref<Context>(this), text = std::move(sentence)] { self->pfn_notify_(text.c_str(), nullptr, 0, self->user_data_); });
  }
}

void Context::add_destructor(DestructorFunction function, void* user_data) { destructors_.lock()->push_back({function, user_data}); }

} // namespace farcl::driver
