// The two functions that exports.map shows to the process.
#include "driver/icd/opencl.hpp"

namespace farcl::driver {
cl_int CL_API_CALL icd_get_platform_ids(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms);
namespace entry {
void* CL_API_CALL clGetExtensionFunctionAddress(const char* function_name);
} // namespace entry
} // namespace farcl::driver

extern "C" {

__attribute__((visibility("default"))) CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* function_name) {
  return farcl::driver::entry::clGetExtensionFunctionAddress(function_name);
}

__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries,
                                                                                              cl_platform_id* platforms,
                                                                                              cl_uint* num_platforms) {
  return farcl::driver::icd_get_platform_ids(num_entries, platforms, num_platforms);
}

} // extern "C"
