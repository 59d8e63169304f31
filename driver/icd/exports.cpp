// The two functions that exports.map shows to the process, and what is said when it exits.
#include "driver/icd/opencl.hpp"
#include "driver/session/runtime.hpp"

namespace farcl::driver {
cl_int CL_API_CALL icd_get_platform_ids(cl_uint num_entries, cl_platform_id* platforms, cl_uint* num_platforms);
namespace entry {
void* CL_API_CALL clGetExtensionFunctionAddress(const char* function_name);
} // namespace entry
} // namespace farcl::driver

namespace {
// After the program's own exit handlers, or before: the sessions stay usable. Not run by _exit() and signals.
[[gnu::destructor]] void at_exit() { farcl::driver::announce_exit(); }
} // namespace

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
