// Round trips: what one call waits for, against api_list.def, over the ways that programs go.
#include "tests/driver_api/bench.hpp"

#include <condition_variable>
#include <map>
#include <mutex>

namespace farcl::test {
namespace {

std::map<Entry, std::uint32_t> most_seen; // written on the test's thread only

void remember(Entry entry, cl_int, std::uint32_t round_trips) { most_seen[entry] = std::max(most_seen[entry], round_trips); }

/// Counts the round trips of one call.
template <class Call>
std::uint32_t trips(Call&& call) {
  static std::uint32_t seen;
  seen = 0;
  driver::observe_calls([](Entry entry, cl_int code, std::uint32_t round_trips) {
    seen += round_trips;
    remember(entry, code, round_trips);
  });
  EXPECT_EQ(call(), CL_SUCCESS);
  driver::observe_calls(nullptr);
  return seen;
}

TEST(RoundTrips, AreWhatTheListSays) {
  Bench b;
  std::vector<char> host(1u << 20, 'x');
  cl_mem buffer = b.buffer(0, host.size());
  cl_kernel kernel = b.ready_kernel();
  const std::size_t global = 8;
  cl_event event = nullptr;

  EXPECT_EQ(trips([&] { return api.clEnqueueNDRangeKernel(b.queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr); }), 0u);
  EXPECT_EQ(trips([&] { return api.clSetKernelArg(kernel, 1, 32, nullptr); }), 0u);
  EXPECT_EQ(trips([&] { return api.clFlush(b.queue); }), 0u);
  EXPECT_EQ(trips([&] { return api.clFinish(b.queue); }), 1u);
  EXPECT_EQ(trips([&] { return api.clEnqueueReadBuffer(b.queue, buffer, CL_TRUE, 0, 4, host.data(), 0, nullptr, nullptr); }), 1u);
  EXPECT_EQ(trips([&] { return api.clEnqueueReadBuffer(b.queue, buffer, CL_TRUE, 0, host.size(), host.data(), 0, nullptr, nullptr); }), 1u);
  EXPECT_EQ(trips([&] { return api.clEnqueueReadBuffer(b.queue, buffer, CL_FALSE, 0, 4, host.data(), 0, nullptr, &event); }), 0u);
  EXPECT_LE(trips([&] { return api.clWaitForEvents(1, &event); }), 1u);
  EXPECT_EQ(trips([&] { return api.clWaitForEvents(1, &event); }), 0u); // complete
  EXPECT_EQ(trips([&] { return api.clReleaseEvent(event); }), 0u);
  for (const std::size_t size : {std::size_t{4}, std::size_t{64} << 10, std::size_t{256} << 10}) {
    EXPECT_EQ(trips([&] { return api.clEnqueueWriteBuffer(b.queue, buffer, CL_TRUE, 0, size, host.data(), 0, nullptr, nullptr); }), 0u)
        << size;
  }
  EXPECT_EQ(trips([&] { return api.clEnqueueWriteBuffer(b.queue, buffer, CL_TRUE, 0, host.size(), host.data(), 0, nullptr, nullptr); }),
            1u);
  EXPECT_EQ(trips([&] { return api.clEnqueueWriteBuffer(b.queue, buffer, CL_FALSE, 0, host.size(), host.data(), 0, nullptr, nullptr); }),
            0u);
  EXPECT_EQ(trips([&] { return api.clEnqueueFillBuffer(b.queue, buffer, host.data(), 1, 0, 64, 0, nullptr, nullptr); }), 0u);
  EXPECT_EQ(trips([&] { return api.clEnqueueCopyBuffer(b.queue, buffer, buffer, 0, 64, 64, 0, nullptr, nullptr); }), 0u);
  EXPECT_EQ(trips([&] { return api.clEnqueueMarkerWithWaitList(b.queue, 0, nullptr, nullptr); }), 0u);
  EXPECT_EQ(trips([&] { return api.clEnqueueBarrierWithWaitList(b.queue, 0, nullptr, nullptr); }), 0u);

  void* mapped = nullptr;
  EXPECT_EQ(trips([&] {
              cl_int code = 0;
              mapped = api.clEnqueueMapBuffer(b.queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 4096, 0, nullptr, nullptr, &code);
              return code;
            }),
            1u);
  EXPECT_EQ(trips([&] { return api.clEnqueueUnmapMemObject(b.queue, buffer, mapped, 0, nullptr, nullptr); }), 0u);
  EXPECT_EQ(trips([&] {
              cl_int code = 0;
              mapped =
                  api.clEnqueueMapBuffer(b.queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4096, 0, nullptr, nullptr, &code);
              return code;
            }),
            0u);
  EXPECT_EQ(trips([&] { return api.clEnqueueUnmapMemObject(b.queue, buffer, mapped, 0, nullptr, nullptr); }), 0u);
  for (const auto& [entry, seen] : most_seen) {
    EXPECT_LE(seen, static_cast<std::uint32_t>(driver::describe(entry).round_trips)) << driver::describe(entry).name;
  }
}

TEST(RoundTrips, MakingObjectsCostsNone) {
  Bench b;
  std::vector<char> host(64u << 10, 'x');
  cl_mem made = nullptr;
  EXPECT_EQ(trips([&] {
              cl_int code = 0;
              made = api.clCreateBuffer(b.context, CL_MEM_COPY_HOST_PTR, host.size(), host.data(), &code);
              return code;
            }),
            0u);
  EXPECT_EQ(trips([&] { return api.clReleaseMemObject(made); }), 0u);
  cl_command_queue queue = nullptr;
  EXPECT_EQ(trips([&] {
              cl_int code = 0;
              queue = api.clCreateCommandQueueWithProperties(b.context, b.devices[0], nullptr, &code);
              return code;
            }),
            0u);
  EXPECT_EQ(trips([&] { return api.clReleaseCommandQueue(queue); }), 0u);
  EXPECT_EQ(trips([&] {
              cl_uint count = 0;
              return api.clGetDeviceIDs(b.platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
            }),
            0u);
}

/// A callback's way back to the test.
struct Called {
  std::mutex mutex;
  std::condition_variable changed;
  cl_program program = nullptr;

  static void CL_CALLBACK call(cl_program program, void* user_data) {
    auto& self = *static_cast<Called*>(user_data);
    const std::lock_guard<std::mutex> held(self.mutex);
    self.program = program;
    self.changed.notify_all();
  }
  bool wait() {
    std::unique_lock<std::mutex> held(mutex);
    return changed.wait_for(held, std::chrono::seconds(10), [&] { return program != nullptr; });
  }
};

TEST(RoundTrips, BuildsWaitOnceAndWithACallbackNotAtAll) {
  Bench b;
  cl_program program = b.source_program();
  EXPECT_EQ(trips([&] { return api.clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr); }), 1u);
  Called built;
  EXPECT_EQ(trips([&] { return api.clBuildProgram(program, 0, nullptr, nullptr, Called::call, &built); }), 0u);
  ASSERT_TRUE(built.wait());
  EXPECT_EQ(built.program, program);
  cl_build_status status = CL_BUILD_NONE;
  EXPECT_EQ(
      trips([&] { return api.clGetProgramBuildInfo(program, b.devices[0], CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr); }),
      0u);
  EXPECT_EQ(status, CL_BUILD_SUCCESS);
  cl_kernel kernel = nullptr;
  EXPECT_EQ(trips([&] {
              cl_int code = 0;
              kernel = api.clCreateKernel(program, "simple", &code);
              return code;
            }),
            0u);
  EXPECT_EQ(trips([&] { return api.clReleaseKernel(kernel); }), 0u);
  std::vector<unsigned char> binary(4096);
  unsigned char* pointer = binary.data();
  EXPECT_EQ(trips([&] { return api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr); }), 1u);
}

/// A server that knows some programs by their hash, and remembers what it was asked.
struct Asked {
  std::size_t hashes = 0;
  std::size_t sources = 0;
  bool knows = false;

  void listen(Bench& b) {
    b.server.script().with([this](Script& script) {
      script.wants_source = [this](const protocol::BuildProgram& request) {
        const bool hashed = std::holds_alternative<protocol::HashedInput>(request.inputs.at(0));
        EXPECT_TRUE(!hashed || (request.inputs.size() == 1 && request.headers.empty() && request.options.empty()));
        ++(hashed ? hashes : sources);
        return hashed && !knows;
      };
    });
  }
};

TEST(RoundTrips, ALargeSourceIsAskedForByItsHash) {
  Bench b;
  Asked asked;
  asked.listen(b);
  const std::string large = "kernel void simple() {} //" + std::string(protocol::kSourceAlongBytes, 'x');
  const char* text = large.c_str();
  cl_program program = api.clCreateProgramWithSource(b.other_context, 1, &text, nullptr, nullptr);
  const auto build = [&] { return api.clBuildProgram(program, 0, nullptr, "-DX", nullptr, nullptr); };
  EXPECT_EQ(trips(build), 2u);
  EXPECT_EQ(asked.hashes, 1u);
  EXPECT_EQ(asked.sources, 1u);
  asked.knows = true;
  EXPECT_EQ(trips(build), 1u);
  EXPECT_EQ(asked.hashes, 2u);
  EXPECT_EQ(asked.sources, 1u) << "a source that is known does not travel";
  for (const bool knows : {true, false}) {
    asked.knows = knows;
    Called built;
    EXPECT_EQ(trips([&] { return api.clBuildProgram(program, 0, nullptr, nullptr, Called::call, &built); }), 0u);
    ASSERT_TRUE(built.wait());
    EXPECT_EQ(built.program, program);
    EXPECT_EQ(asked.sources, knows ? 1u : 2u);
    cl_build_status status = CL_BUILD_NONE;
    EXPECT_EQ(api.clGetProgramBuildInfo(program, b.devices[0], CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr), CL_SUCCESS);
    EXPECT_EQ(status, CL_BUILD_SUCCESS);
  }
  EXPECT_EQ(api.clReleaseProgram(program), CL_SUCCESS);
  cl_program small = b.source_program(); // goes along: the server knows it at once or builds it at once
  EXPECT_EQ(trips([&] { return api.clBuildProgram(small, 0, nullptr, nullptr, nullptr, nullptr); }), 1u);
  EXPECT_EQ(asked.hashes, 4u);
  EXPECT_EQ(asked.sources, 3u);
}

TEST(Builds, AServerThatNeverHasEnoughIsGivenUp) {
  Bench b;
  b.server.script().with([](Script& script) { script.wants_source = [](const protocol::BuildProgram&) { return true; }; });
  cl_program program = b.source_program();
  EXPECT_EQ(api.clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr), CL_OUT_OF_RESOURCES);
}

TEST(Builds, AFailedOneWithACallbackTellsItInItsState) {
  Bench b;
  b.builds_say(CL_BUILD_PROGRAM_FAILURE);
  cl_program program = b.source_program();
  Called built;
  ASSERT_EQ(api.clBuildProgram(program, 0, nullptr, "-DX", Called::call, &built), CL_SUCCESS);
  ASSERT_TRUE(built.wait());
  cl_build_status status = CL_BUILD_NONE;
  ASSERT_EQ(api.clGetProgramBuildInfo(program, b.devices[0], CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr), CL_SUCCESS);
  EXPECT_EQ(status, CL_BUILD_ERROR);
  char log[200] = "";
  ASSERT_EQ(api.clGetProgramBuildInfo(program, b.devices[0], CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr), CL_SUCCESS);
  EXPECT_NE(std::string(log).find("source.cl:1:1"), std::string::npos);
}

TEST(Builds, EmbeddedHeadersTravelUnderTheirNames) {
  Bench b;
  const char* source = "#include \"a/b.h\"\n";
  const char* text = "int in_header;";
  cl_program program = api.clCreateProgramWithSource(b.context, 1, &source, nullptr, nullptr);
  cl_program header = api.clCreateProgramWithSource(b.context, 1, &text, nullptr, nullptr);
  std::vector<std::pair<std::string, std::string>> sent;
  b.server.script().with([&](Script& script) {
    script.on_build = [&sent](const protocol::BuildProgram& request) {
      EXPECT_EQ(request.stage, protocol::BuildStage::kCompile);
      for (const protocol::BuildHeader& one : request.headers) {
        sent.emplace_back(one.path, std::string(reinterpret_cast<const char*>(one.text.data()), one.text.size()));
      }
      return protocol::BuildDone{.status = CL_SUCCESS, .binary_type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT};
    };
  });
  const char* name = "a/b.h";
  EXPECT_EQ(api.clCompileProgram(program, 1, b.devices.data(), nullptr, 1, &header, &name, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(sent, (std::vector<std::pair<std::string, std::string>>{{"a/b.h", "int in_header;"}}));
  EXPECT_EQ(api.clReleaseProgram(program), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseProgram(header), CL_SUCCESS);
}

TEST(WaitLists, AreBoundedByWhatAMessageCarries) {
  Bench b;
  std::vector<cl_event> events;
  for (std::uint64_t i = 0; i <= protocol::kMaxWaitListEvents; ++i) {
    events.push_back(b.open_event());
  }
  const auto most = static_cast<cl_uint>(protocol::kMaxWaitListEvents);
  EXPECT_EQ(api.clEnqueueMarkerWithWaitList(b.queue, most + 1, events.data(), nullptr), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(api.clEnqueueWaitForEvents(b.queue, most + 1, events.data()), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(api.clEnqueueMarkerWithWaitList(b.queue, most, events.data(), nullptr), CL_SUCCESS);
  EXPECT_EQ(api.clSetUserEventStatus(events.back(), CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(api.clEnqueueMarkerWithWaitList(b.queue, most + 1, events.data(), nullptr), CL_SUCCESS); // one is complete
}

TEST(Builds, WhatNoMessageCarriesFailsHereAndTheSessionGoesOn) {
  Bench b;
  const std::string long_name(protocol::kMaxPathBytes + 1, 'n');
  const std::string large(protocol::kMaxSourceBytes + 1, ' ');
  const auto program_of = [&](const std::string& text) {
    const char* source = text.c_str();
    return api.clCreateProgramWithSource(b.other_context, 1, &source, nullptr, nullptr);
  };
  cl_program small_program = program_of(" ");
  cl_program large_program = program_of(large);
  const char* long_pointer = long_name.c_str();
  const char* short_pointer = "a.h";
  const auto compile = [&](cl_program header, const char* name) {
    return api.clCompileProgram(small_program, 0, nullptr, nullptr, 1, &header, &name, nullptr, nullptr);
  };
  EXPECT_EQ(compile(small_program, long_pointer), CL_COMPILE_PROGRAM_FAILURE);
  EXPECT_EQ(compile(large_program, short_pointer), CL_COMPILE_PROGRAM_FAILURE);
  EXPECT_EQ(api.clBuildProgram(large_program, 0, nullptr, nullptr, nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
  const std::string options(protocol::kMaxBuildOptionsBytes + 1, ' ');
  EXPECT_EQ(api.clBuildProgram(small_program, 0, nullptr, options.c_str(), nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(compile(small_program, short_pointer), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseProgram(small_program), CL_SUCCESS);
  EXPECT_EQ(api.clReleaseProgram(large_program), CL_SUCCESS);
}

} // namespace
} // namespace farcl::test
