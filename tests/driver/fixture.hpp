// What the tests of commands stand on: the driver, connected to a fake server, with a context, a queue and the kernel "bump".
#pragma once

#include "driver/icd/entry_points.hpp"
#include "fake_server.hpp"

#include <gtest/gtest.h>

namespace farcl::test {

/// The calls go the way that the ICD loader's go.
inline const cl_icd_dispatch& api = driver::kDispatchTable;

/// A program that uses one device. Checks every call.
class Client {
public:
  explicit Client(cl_command_queue_properties queue_properties = 0);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  cl_mem buffer(std::size_t size, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host_ptr = nullptr);
  cl_event write(cl_mem buffer, const void* data, std::size_t size, bool blocking = true, std::vector<cl_event> after = {});
  std::vector<std::uint32_t> read(cl_mem buffer, std::size_t words);
  void bump(cl_mem buffer, std::uint32_t amount = 1, std::vector<cl_event> after = {}, cl_event* event = nullptr);

  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
  std::vector<std::string> sentences(); ///< what pfn_notify got

private:
  static void CL_CALLBACK on_notify(const char* sentence, const void*, std::size_t, void* self);
  Guarded<std::vector<std::string>> sentences_;
  std::vector<cl_mem> buffers_;
};

/// Looks until `done` is true, at most five seconds.
bool eventually(const std::function<bool()>& done);

} // namespace farcl::test
