// Kernels: everything came with the build's reply.
#include "driver/info/info.hpp"

#include <array>

namespace farcl::driver {
namespace {

constexpr InfoRow<Kernel> kKernelRows[] = {
    {CL_KERNEL_FUNCTION_NAME, [](Kernel& kernel, const InfoSink& sink) { return sink.text(kernel.info().name); }},
    {CL_KERNEL_NUM_ARGS,
     [](Kernel& kernel, const InfoSink& sink) { return sink.value(static_cast<cl_uint>(kernel.info().arguments.size())); }},
    {CL_KERNEL_REFERENCE_COUNT, [](Kernel& kernel, const InfoSink& sink) { return sink.value(kernel.reference_count()); }},
    {CL_KERNEL_CONTEXT, [](Kernel& kernel, const InfoSink& sink) { return sink.value(kernel.context().handle()); }},
    {CL_KERNEL_PROGRAM, [](Kernel& kernel, const InfoSink& sink) { return sink.value(kernel.program().handle()); }},
    {CL_KERNEL_ATTRIBUTES, [](Kernel& kernel, const InfoSink& sink) { return sink.text(kernel.info().attributes); }},
};

constexpr InfoRow<const ArgumentInfo> kArgumentRows[] = {
    {CL_KERNEL_ARG_ADDRESS_QUALIFIER,
     [](const ArgumentInfo& argument, const InfoSink& sink) {
       return sink.value(static_cast<cl_kernel_arg_address_qualifier>(argument.address_qualifier));
     }},
    {CL_KERNEL_ARG_ACCESS_QUALIFIER,
     [](const ArgumentInfo& argument, const InfoSink& sink) {
       return sink.value(static_cast<cl_kernel_arg_access_qualifier>(argument.access_qualifier));
     }},
    {CL_KERNEL_ARG_TYPE_NAME, [](const ArgumentInfo& argument, const InfoSink& sink) { return sink.text(argument.type_name); }},
    {CL_KERNEL_ARG_TYPE_QUALIFIER,
     [](const ArgumentInfo& argument, const InfoSink& sink) {
       return sink.value(static_cast<cl_kernel_arg_type_qualifier>(argument.type_qualifier));
     }},
    {CL_KERNEL_ARG_NAME, [](const ArgumentInfo& argument, const InfoSink& sink) { return sink.text(argument.name); }},
};

struct KernelOnDevice {
  Kernel& kernel;
  Device& device;
};

constexpr InfoRow<const KernelOnDevice> kWorkGroupRows[] = {
    {CL_KERNEL_WORK_GROUP_SIZE,
     [](const KernelOnDevice& on, const InfoSink& sink) {
       const std::uint64_t own = on.kernel.info().max_work_group_size;
       return sink.value(static_cast<std::size_t>(own != 0 ? own : on.device.number(CL_DEVICE_MAX_WORK_GROUP_SIZE, 1)));
     }},
    {CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
     [](const KernelOnDevice& on, const InfoSink& sink) {
       std::array<std::size_t, 3> size{};
       std::copy_n(on.kernel.info().required_work_group_size.begin(), 3, size.begin());
       return sink.value(size);
     }},
    {CL_KERNEL_LOCAL_MEM_SIZE,
     [](const KernelOnDevice& on, const InfoSink& sink) {
       return sink.value(cl_ulong{on.kernel.info().static_local_bytes + on.kernel.local_argument_bytes()});
     }},
    {CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
     [](const KernelOnDevice& on, const InfoSink& sink) {
       return sink.value(static_cast<std::size_t>(on.kernel.info().preferred_multiple));
     }},
    {CL_KERNEL_PRIVATE_MEM_SIZE,
     [](const KernelOnDevice& on, const InfoSink& sink) { return sink.value(cl_ulong{on.kernel.info().private_bytes}); }},
    // Only for built-in kernels and custom devices, and there are none.
    {CL_KERNEL_GLOBAL_WORK_SIZE, [](const KernelOnDevice&, const InfoSink&) -> cl_int { return CL_INVALID_VALUE; }},
};

} // namespace

cl_int kernel_info(Kernel& kernel, cl_kernel_info name, const InfoSink& sink) { return answer(kKernelRows, kernel, name, sink); }

cl_int kernel_argument_info(const ArgumentInfo& argument, cl_kernel_arg_info name, const InfoSink& sink) {
  return answer(kArgumentRows, argument, name, sink);
}

cl_int kernel_work_group_info(Kernel& kernel, Device& device, cl_kernel_work_group_info name, const InfoSink& sink) {
  const KernelOnDevice on{kernel, device};
  return answer(kWorkGroupRows, on, name, sink);
}

} // namespace farcl::driver
