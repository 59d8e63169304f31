// Contexts.
#include "driver/objects/context.hpp"
#include "driver/api/devices_of_type.hpp"
#include "driver/api/with_object.hpp"
#include "driver/objects/platform.hpp"
#include "driver/session/callback_thread.hpp"
#include "driver/session/runtime.hpp"
#include "driver/session/session.hpp"
#include "driver/validate/lists.hpp"

#include <algorithm>

namespace farcl::driver {
namespace {

/// CL_CONTEXT_PLATFORM of checked properties; without it FarCL's one platform.
Platform* platform_of(const std::vector<cl_context_properties>& properties) {
  for (std::size_t i = 0; i + 1 < properties.size() && properties[i] != 0; i += 2) {
    if (properties[i] == CL_CONTEXT_PLATFORM) {
      return Platform::from(reinterpret_cast<cl_platform_id>(properties[i + 1]));
    }
  }
  return Runtime::instance().platform();
}

ApiResult<cl_context> make_context(std::vector<Device*> devices, std::vector<cl_context_properties> properties, ContextNotify pfn_notify,
                                   void* user_data) {
  ServerSession& session = devices.front()->session();
  if (session.dead()) {
    return api_error(CL_DEVICE_NOT_AVAILABLE);
  }
  return Context::create(session, std::move(devices), std::move(properties), pfn_notify, user_data)->handle();
}

/// There is no context yet that could be asked, so the program's own function gets the sentence.
void explain(ContextNotify pfn_notify, void* user_data, const char* sentence) {
  if (pfn_notify != nullptr) {
    post_callback([=] { pfn_notify(sentence, nullptr, 0, user_data); });
  }
}

bool span_servers(cl_uint count, const cl_device_id* devices) {
  const Device* first = count == 0 || devices == nullptr ? nullptr : Device::from(devices[0]);
  return first != nullptr && std::any_of(devices, devices + count, [&](cl_device_id one) {
           const Device* device = Device::from(one);
           return device != nullptr && &device->session() != &first->session();
         });
}

} // namespace

namespace entry {

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint num_devices, const cl_device_id* devices,
                                       void(CL_CALLBACK* pfn_notify)(const char*, const void*, size_t, void*), void* user_data,
                                       cl_int* errcode_ret) {
  return guard_create(Entry::clCreateContext, errcode_ret, [&]() -> ApiResult<cl_context> {
    std::vector<cl_context_properties> copy;
    if (const cl_int code = validate::context_properties(properties, copy); code != CL_SUCCESS) {
      return api_error(code);
    }
    if (const cl_int code = validate::callback(pfn_notify, user_data); code != CL_SUCCESS) {
      return api_error(code);
    }
    std::vector<Device*> chosen;
    if (const cl_int code = validate::context_devices(num_devices, devices, chosen); code != CL_SUCCESS) {
      if (code == CL_INVALID_DEVICE && span_servers(num_devices, devices)) {
        explain(pfn_notify, user_data, "FarCL: a context cannot have devices of several servers yet");
      }
      return api_error(code);
    }
    return make_context(std::move(chosen), std::move(copy), pfn_notify, user_data);
  });
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties* properties, cl_device_type device_type,
                                               void(CL_CALLBACK* pfn_notify)(const char*, const void*, size_t, void*), void* user_data,
                                               cl_int* errcode_ret) {
  return guard_create(Entry::clCreateContextFromType, errcode_ret, [&]() -> ApiResult<cl_context> {
    std::vector<cl_context_properties> copy;
    if (const cl_int code = validate::context_properties(properties, copy); code != CL_SUCCESS) {
      return api_error(code);
    }
    if (const cl_int code = validate::callback(pfn_notify, user_data); code != CL_SUCCESS) {
      return api_error(code);
    }
    const Platform* platform = platform_of(copy);
    if (platform == nullptr) {
      return api_error(CL_INVALID_PLATFORM);
    }
    std::vector<Device*> chosen;
    if (const cl_int code = devices_of_type(*platform, device_type, chosen); code != CL_SUCCESS) {
      return api_error(code);
    }
    // The first server that has such devices and is alive: contexts over several servers do not exist yet.
    const auto alive = std::find_if(chosen.begin(), chosen.end(), [](const Device* device) { return !device->session().dead(); });
    if (alive == chosen.end()) {
      return api_error(CL_DEVICE_NOT_AVAILABLE);
    }
    const ServerSession* session = &(*alive)->session();
    std::erase_if(chosen, [&](const Device* device) { return &device->session() != session; });
    return make_context(std::move(chosen), std::move(copy), pfn_notify, user_data);
  });
}

cl_int CL_API_CALL clRetainContext(cl_context context) {
  return retain_object<Context>(Entry::clRetainContext, context, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clReleaseContext(cl_context context) {
  return release_object<Context>(Entry::clReleaseContext, context, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context context, void(CL_CALLBACK* pfn_notify)(cl_context, void*), void* user_data) {
  return set_destructor_callback<Context>(Entry::clSetContextDestructorCallback, context, CL_INVALID_CONTEXT, pfn_notify, user_data);
}

} // namespace entry
} // namespace farcl::driver
