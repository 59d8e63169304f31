// The OpenCL side of the benchmark: plain OpenCL through the ICD loader, as any program uses it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdexcept>
#include <string>

namespace farcl::tools::bench {

/// A failed call or a wrong result ends the whole benchmark: its figures would mean nothing.
class BenchFailure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Throws BenchFailure unless `status` is CL_SUCCESS.
void check(cl_int status, const char* what);

/// Builds one source for one device, throws with the build log where that fails.
[[nodiscard]] cl_program build_program(cl_context context, cl_device_id device, const std::string& source);

/// One device with a context, an in-order and an out-of-order queue and the kernels that the figures use.
class Session {
public:
  /// The first device of the first platform whose name contains `platform` (empty: any).
  explicit Session(const std::string& platform);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_command_queue out_of_order = nullptr; ///< null where the device has none
  cl_program program = nullptr;
  cl_kernel empty = nullptr; ///< does nothing
  cl_kernel add = nullptr;   ///< adds its second argument to the counter that is its first
  cl_mem counter = nullptr;
  std::string device_name;

  void launch(cl_command_queue on, cl_kernel kernel, cl_uint wait_count = 0, const cl_event* wait = nullptr,
              cl_event* event = nullptr) const;
  /// clSetKernelArg with `amount`, which the counter kernel will add.
  void set_amount(cl_uint amount) const;
  [[nodiscard]] cl_uint read_counter() const;
};

/// Connects, builds, computes one result and checks it: what a new process has to do before it is of use.
void compute_first_result(const std::string& platform);

} // namespace farcl::tools::bench
