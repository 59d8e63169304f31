// The queries of every kind of object. Handles have been checked; the answer goes to the sink.
#pragma once

#include "driver/info/sink.hpp"
#include "driver/objects/event.hpp"
#include "driver/objects/kernel.hpp"
#include "driver/objects/memory.hpp"
#include "driver/objects/platform.hpp"
#include "driver/objects/program.hpp"
#include "driver/objects/queue.hpp"

namespace farcl::driver {

[[nodiscard]] cl_int platform_info(Platform& platform, cl_platform_info name, const InfoSink& sink);
[[nodiscard]] cl_int device_info(Device& device, cl_device_info name, const InfoSink& sink);
[[nodiscard]] cl_int context_info(Context& context, cl_context_info name, const InfoSink& sink);
[[nodiscard]] cl_int queue_info(CommandQueue& queue, cl_command_queue_info name, const InfoSink& sink);
[[nodiscard]] cl_int memory_info(Mem& memory, cl_mem_info name, const InfoSink& sink);
[[nodiscard]] cl_int event_info(Event& event, cl_event_info name, const InfoSink& sink);
/// CL_PROFILING_INFO_NOT_AVAILABLE for events without times.
[[nodiscard]] cl_int event_profiling_info(Event& event, cl_profiling_info name, const InfoSink& sink);
/// CL_PROGRAM_BINARIES waits for the server: 1 round trip.
[[nodiscard]] cl_int program_info(Program& program, cl_program_info name, const InfoSink& sink);
[[nodiscard]] cl_int program_build_info(Program& program, Device& device, cl_program_build_info name, const InfoSink& sink);
[[nodiscard]] cl_int kernel_info(Kernel& kernel, cl_kernel_info name, const InfoSink& sink);
[[nodiscard]] cl_int kernel_argument_info(const ArgumentInfo& argument, cl_kernel_arg_info name, const InfoSink& sink);
[[nodiscard]] cl_int kernel_work_group_info(Kernel& kernel, Device& device, cl_kernel_work_group_info name, const InfoSink& sink);

} // namespace farcl::driver
