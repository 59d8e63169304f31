// Programs and their builds. The devices of a program are of one server and share its builds.
#include "driver/info/info.hpp"
#include "driver/program/program_binary.hpp"
#include "driver/session/session.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace farcl::driver {
namespace {

std::shared_ptr<const ProgramInfo> executable(Program& program) {
  return program.build().with([](const BuildState& build) { return build.info; });
}

/// CL_INVALID_PROGRAM_EXECUTABLE, or what `function(const ProgramInfo&)` says.
template <class Function>
cl_int of_executable(Program& program, Function&& function) {
  const auto info = executable(program);
  return info ? function(*info) : CL_INVALID_PROGRAM_EXECUTABLE;
}

cl_int no_scope_functions(Program& program, const InfoSink& sink) {
  return of_executable(program, [&](const ProgramInfo&) { return sink.value(cl_bool{CL_FALSE}); });
}

cl_int kernel_names(Program& program, const InfoSink& sink) {
  return of_executable(program, [&](const ProgramInfo& info) {
    std::string names;
    for (const KernelInfo& kernel : info.kernels) {
      names += names.empty() ? "" : ";";
      names += kernel.name;
    }
    return sink.text(names);
  });
}

cl_int binary_sizes(Program& program, const InfoSink& sink) {
  return sink.array(std::vector<std::size_t>(program.devices().size(), program_binary_bytes(program)));
}

/// The program gives a pointer for each device, null where it wants nothing. They share one binary, so it is fetched once.
cl_int binaries(Program& program, const InfoSink& sink) {
  const std::size_t count = program.devices().size();
  if (sink.memory() == nullptr) {
    return sink.size_only(count * sizeof(unsigned char*));
  }
  if (sink.memory_bytes() < count * sizeof(unsigned char*)) {
    return CL_INVALID_VALUE;
  }
  const std::size_t bytes = program_binary_bytes(program);
  auto** const pointers = static_cast<unsigned char**>(sink.memory());
  const bool wanted = std::any_of(pointers, pointers + count, [](const unsigned char* one) { return one != nullptr; });
  if (wanted && bytes != 0) {
    const Result<ByteVector> binary = fetch_program_binary(program);
    if (!binary || binary->size() != bytes) { // another build has come between
      return CL_OUT_OF_RESOURCES;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (pointers[i] != nullptr) {
        std::memcpy(pointers[i], binary->data(), bytes);
      }
    }
  }
  return sink.size_only(count * sizeof(unsigned char*));
}

constexpr InfoRow<Program> kProgramRows[] = {
    {CL_PROGRAM_REFERENCE_COUNT, [](Program& program, const InfoSink& sink) { return sink.value(program.reference_count()); }},
    {CL_PROGRAM_CONTEXT, [](Program& program, const InfoSink& sink) { return sink.value(program.context().handle()); }},
    {CL_PROGRAM_NUM_DEVICES,
     [](Program& program, const InfoSink& sink) { return sink.value(static_cast<cl_uint>(program.devices().size())); }},
    {CL_PROGRAM_DEVICES,
     [](Program& program, const InfoSink& sink) {
       std::vector<cl_device_id> handles;
       for (Device* device : program.devices()) {
         handles.push_back(device->handle());
       }
       return sink.array(handles);
     }},
    {CL_PROGRAM_SOURCE, [](Program& program, const InfoSink& sink) { return sink.text(program.source()); }},
    {CL_PROGRAM_BINARY_SIZES, binary_sizes},
    {CL_PROGRAM_BINARIES, binaries},
    {CL_PROGRAM_NUM_KERNELS,
     [](Program& program, const InfoSink& sink) {
       return of_executable(program, [&](const ProgramInfo& info) { return sink.value(info.kernels.size()); });
     }},
    {CL_PROGRAM_KERNEL_NAMES, kernel_names},
    {CL_PROGRAM_IL, [](Program&, const InfoSink& sink) { return sink.bytes(nullptr, 0); }}, // none is made from an intermediate language
    {CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, no_scope_functions},
    {CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, no_scope_functions},
};

constexpr InfoRow<const BuildState> kBuildRows[] = {
    {CL_PROGRAM_BUILD_STATUS, [](const BuildState& build, const InfoSink& sink) { return sink.value(build.status); }},
    {CL_PROGRAM_BUILD_OPTIONS, [](const BuildState& build, const InfoSink& sink) { return sink.text(build.options); }},
    {CL_PROGRAM_BUILD_LOG, [](const BuildState& build, const InfoSink& sink) { return sink.text(build.log); }},
    {CL_PROGRAM_BINARY_TYPE, [](const BuildState& build, const InfoSink& sink) { return sink.value(build.binary_type); }},
    {CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, [](const BuildState&, const InfoSink& sink) { return sink.value(std::size_t{0}); }},
};

} // namespace

cl_int program_info(Program& program, cl_program_info name, const InfoSink& sink) { return answer(kProgramRows, program, name, sink); }

cl_int program_build_info(Program& program, Device& device, cl_program_build_info name, const InfoSink& sink) {
  return program.build().with([&](const BuildState& build) {
    const bool built = std::find(build.devices.begin(), build.devices.end(), &device) != build.devices.end();
    const BuildState none;
    return answer(kBuildRows, built ? build : none, name, sink);
  });
}

} // namespace farcl::driver
