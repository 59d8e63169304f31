// For tests that use OpenCL in their own process: one private server for the whole program, set up before the first OpenCL call.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include "private_server.hpp"

#include <CL/opencl.hpp>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace farcl::end_to_end {

/// The server of this program. FARCL_E2E_NATIVE=1 in the environment: none, the tests run on whatever OpenCL is installed,
/// which shows whether a test itself is right. FARCL_E2E_UNIX=1: over a Unix socket, and so through shared memory. FARCL_E2E_KEYS=1: over
/// TCP with a key, and so encrypted.
PrivateServer* server();

class ClTest : public ::testing::Test {
protected:
  void SetUp() override;

  cl::Program build(const std::string& source, const std::string& options = "");
  /// A buffer with these values.
  template <class T>
  cl::Buffer upload(const std::vector<T>& values, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    return cl::Buffer(context, flags | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T), const_cast<T*>(values.data()));
  }
  template <class T>
  std::vector<T> download(const cl::Buffer& buffer, std::size_t count) {
    std::vector<T> values(count);
    queue.enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(T), values.data());
    return values;
  }

  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;        ///< in order, with profiling
  cl::CommandQueue out_of_order; ///< with profiling
};

} // namespace farcl::end_to_end
