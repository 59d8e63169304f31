#include "farcl/kernel_compiler/printf_format.hpp"
namespace farcl::kernel_compiler {
std::string format_printf(const FarclPrintfRecord& record) { return record.format; }
}
