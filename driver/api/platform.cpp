// Platforms, and the two functions that a loader of OpenCL finds by name.
#include "driver/objects/platform.hpp"
#include "driver/api/with_object.hpp"
#include "driver/info/info.hpp"
#include "driver/session/runtime.hpp"

#include <algorithm>
#include <string_view>

namespace farcl::driver {
namespace {

/// clGetPlatformIDs for one platform or none. `none_code`: what the loader's variant wants when there is none.
cl_int platform_ids(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms, cl_int none_code) {
  if ((num_entries == 0 && platforms != nullptr) || (platforms == nullptr && num_platforms == nullptr)) {
    return CL_INVALID_VALUE;
  }
  Platform* platform = Runtime::instance().platform();
  if (num_platforms != nullptr) {
    *num_platforms = platform != nullptr ? 1 : 0;
  }
  if (platform == nullptr) {
    return none_code;
  }
  if (platforms != nullptr) {
    platforms[0] = platform->handle();
  }
  return CL_SUCCESS;
}

} // namespace

/// The loader's way to the platform; not in the dispatch table.
cl_int CL_API_CALL icd_get_platform_ids(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  return guard(Entry::clGetPlatformIDs, [&] { return platform_ids(num_entries, platforms, num_platforms, CL_PLATFORM_NOT_FOUND_KHR); });
}

namespace {

struct ExtensionFunction {
  std::string_view name;
  void* address;
};

void* extension_function(const char* name) {
  static const ExtensionFunction kFunctions[] = {
      {"clIcdGetPlatformIDsKHR", reinterpret_cast<void*>(&icd_get_platform_ids)},
      {"clGetPlatformInfo", reinterpret_cast<void*>(&entry::clGetPlatformInfo)},
  };
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const ExtensionFunction& one) { return name != nullptr && one.name == name; });
  return found == std::end(kFunctions) ? nullptr : found->address;
}

} // namespace

namespace entry {

cl_int CL_API_CALL clGetPlatformIDs(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms) {
  return guard(Entry::clGetPlatformIDs, [&] { return platform_ids(num_entries, platforms, num_platforms, CL_SUCCESS); });
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name, size_t param_value_size, void* param_value,
                                     size_t* param_value_size_ret) {
  return with_object<Platform>(Entry::clGetPlatformInfo, platform, CL_INVALID_PLATFORM, [&](Platform& object) -> cl_int {
    return platform_info(object, param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
  return guard(Entry::clUnloadPlatformCompiler,
               [&]() -> cl_int { return Platform::from(platform) != nullptr ? CL_SUCCESS : CL_INVALID_PLATFORM; });
}

cl_int CL_API_CALL clUnloadCompiler() {
  return guard(Entry::clUnloadCompiler, []() -> cl_int { return CL_SUCCESS; });
}

void* CL_API_CALL clGetExtensionFunctionAddress(const char* function_name) { return extension_function(function_name); }

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* function_name) {
  return Platform::from(platform) != nullptr ? extension_function(function_name) : nullptr;
}

} // namespace entry
} // namespace farcl::driver
