// Building a program: the request that is sent, and what becomes of the reply.
//
// Threads: begin_build and build run on the calling thread; a build with a callback ends on the callback thread. The build state of
// a program is one Guarded value; a build holds it only for moments, its status CL_BUILD_IN_PROGRESS keeps others out.
#pragma once

#include "driver/objects/program.hpp"
#include "driver/program/header_scan.hpp"
#include "farcl/protocol/message_list.hpp"

#include <string>
#include <vector>

namespace farcl::driver {

using BuildCallback = void(CL_CALLBACK*)(cl_program program, void* user_data);

struct BuildJob {
  protocol::BuildStage stage = protocol::BuildStage::kBuild;
  std::vector<Device*> devices;
  std::string options;
  std::vector<SourceHeader> embedded_headers; ///< of clCompileProgram
  std::vector<Ref<Program>> inputs;           ///< of clLinkProgram
  BuildCallback pfn_notify = nullptr;
  void* user_data = nullptr;
};

/// Takes the program for a build: CL_INVALID_OPERATION when another build of it runs or kernels of it exist.
[[nodiscard]] cl_int begin_build(Program& program, const BuildJob& job);
/// Builds the program that begin_build has taken. Without a callback the result of the build; with one CL_SUCCESS, at once.
[[nodiscard]] cl_int build(Program& program, BuildJob job);

/// True when the program has an executable for the device: what a launch asks. Takes no lock for programs of one device.
[[nodiscard]] bool is_built_for(Program& program, const Device& device);

} // namespace farcl::driver
