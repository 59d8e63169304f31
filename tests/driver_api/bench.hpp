// What a test of the API stands on: the driver, connected to a scripted server with three devices, and objects on demand.
#pragma once

#include "driver/icd/entry_points.hpp"
#include "driver/icd/guard.hpp"
#include "driver/objects/handle.hpp"
#include "tests/driver_api/scripted_server.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace farcl::test {

using driver::Entry;

/// The calls go the way that the ICD loader's go.
inline const cl_icd_dispatch& api = driver::kDispatchTable;

// The server's devices.
inline constexpr std::size_t kPlain = 0;      ///< OpenCL 3.0, a CPU, small limits that the tests know
inline constexpr std::size_t kOdd = 1;        ///< OpenCL 1.2, 32 address bits, wide alignment, no out-of-order queues
inline constexpr std::size_t kNoCompiler = 2; ///< neither compiler nor linker

inline constexpr std::size_t kMaxGroup = 256;
inline constexpr std::size_t kMaxItemsZ = 64;
inline constexpr std::size_t kLocalBytes = 32768;
inline constexpr std::size_t kMaxAlloc = 1u << 20;
inline constexpr std::size_t kOddAlignmentBytes = 512; ///< of kOdd; kPlain wants 128

// The kernels that every scripted build has.
inline constexpr const char* kKernelNames[] = {"simple", "required", "all_kinds"};
// Arguments of "all_kinds", in order.
enum Argument : cl_uint { kGlobalArgument, kValueArgument, kLocalArgument, kImageArgument, kSamplerArgument, kArgumentCount };

class Bench {
public:
  /// `fresh`: a server of its own, because the test will kill it.
  explicit Bench(bool fresh = false);
  ~Bench();

  // --- What a row says ---------------------------------------------------------------------------------------------------------
  /// The call's result must be the row's code.
  void expect(cl_int code) {
    ++expectations;
    EXPECT_EQ(code, wanted);
  }
  /// For calls that return something and have an errcode_ret, which must be null with an error: expect_made([&](cl_int* e) { return ...;
  /// }).
  template <class Call>
  void expect_made(Call&& call) {
    cl_int code = 12345;
    const auto made = call(&code);
    EXPECT_EQ(made, nullptr);
    expect(code);
    EXPECT_EQ(call(nullptr), nullptr); // errcode_ret may be null
  }
  /// Handles that are none: null, no object at all, an object of another type, a released one.
  template <class Handle>
  std::vector<Handle> bad();

  cl_int wanted = CL_SUCCESS;
  int expectations = 0;

  // --- What there is ---------------------------------------------------------------------------------------------------------
  ScriptedServer& server;
  cl_platform_id platform = nullptr;
  std::vector<cl_device_id> devices;
  cl_context context = nullptr;       ///< over all devices
  cl_context other_context = nullptr; ///< over kPlain
  cl_command_queue queue = nullptr;   ///< on kPlain, in order, no profiling
  cl_command_queue odd_queue = nullptr;
  cl_command_queue profiling_queue = nullptr;

  cl_mem buffer(cl_mem_flags flags = CL_MEM_READ_WRITE, std::size_t size = 4096);
  cl_mem buffer_in(cl_context in);
  /// Aligned for kPlain, not for kOdd.
  cl_mem misaligned_sub_buffer();
  cl_program source_program(cl_context in = nullptr);
  cl_program built_program(cl_context in = nullptr);
  cl_program compiled_program(cl_context in = nullptr);
  /// For kPlain only.
  cl_program binary_program(std::size_t device = kPlain);
  cl_kernel kernel(const char* name = "simple", cl_context in = nullptr);
  /// All arguments set, ready for a launch.
  cl_kernel ready_kernel(const char* name = "simple");
  cl_event open_event(cl_context in = nullptr); ///< a user event that is not complete
  cl_event failed_event();
  cl_event complete_event();
  /// Of a command that has completed, on a queue with profiling.
  cl_event profiled_event();

  /// Scripts: the status of the next builds.
  void builds_say(cl_int status);
  /// The server is gone, and the driver knows.
  void kill_server();

private:
  template <class Handle, class Release>
  Handle keep(Handle handle, Release release);
  std::vector<std::function<void()>> cleanup_;
};

/// One row of the table: makes a call that must return `Code`. Declared for every code of every entry point of api_list.def;
/// defined by ROW. A code without a row does not link.
template <Entry kEntry, cl_int kCode>
void provoke(Bench& b);

#define ROW(entry_point, code) \
  template <>                  \
  void provoke<Entry::entry_point, code>(Bench & b)

/// Rows that kill their server.
template <Entry kEntry, cl_int kCode>
inline constexpr bool kNeedsFreshServer = false;
template <>
inline constexpr bool kNeedsFreshServer<Entry::clCreateContext, CL_DEVICE_NOT_AVAILABLE> = true;
template <>
inline constexpr bool kNeedsFreshServer<Entry::clCreateContextFromType, CL_DEVICE_NOT_AVAILABLE> = true;

} // namespace farcl::test
