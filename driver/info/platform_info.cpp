#include "driver/info/info.hpp"
#include "driver/info/name_version.hpp"

namespace farcl::driver {
namespace {

constexpr std::string_view kExtensions = "cl_khr_icd";

constexpr InfoRow<Platform> kRows[] = {
    {CL_PLATFORM_PROFILE, [](Platform&, const InfoSink& sink) { return sink.text("FULL_PROFILE"); }},
    {CL_PLATFORM_VERSION, [](Platform&, const InfoSink& sink) { return sink.text("OpenCL 3.0 FarCL " FARCL_VERSION); }},
    {CL_PLATFORM_NAME, [](Platform&, const InfoSink& sink) { return sink.text("FarCL"); }},
    {CL_PLATFORM_VENDOR, [](Platform&, const InfoSink& sink) { return sink.text("FarCL"); }},
    {CL_PLATFORM_EXTENSIONS, [](Platform&, const InfoSink& sink) { return sink.text(kExtensions); }},
    {CL_PLATFORM_ICD_SUFFIX_KHR, [](Platform&, const InfoSink& sink) { return sink.text("FarCL"); }},
    {CL_PLATFORM_HOST_TIMER_RESOLUTION, [](Platform&, const InfoSink& sink) { return sink.value(cl_ulong{0}); }}, // no such timers
    {CL_PLATFORM_NUMERIC_VERSION, [](Platform&, const InfoSink& sink) { return sink.value(cl_version{CL_MAKE_VERSION(3, 0, 0)}); }},
    {CL_PLATFORM_EXTENSIONS_WITH_VERSION,
     [](Platform&, const InfoSink& sink) { return sink.array(name_versions_of_extensions(kExtensions)); }},
};

} // namespace

cl_int platform_info(Platform& platform, cl_platform_info name, const InfoSink& sink) { return answer(kRows, platform, name, sink); }

} // namespace farcl::driver
