#include "daemon/backends/cpu/printf_collector.hpp"

#include "farcl/kernel_compiler/printf_format.hpp"

#include <utility>

namespace farcl::daemon {

namespace {
/// Whole lines leave when this much has been gathered, so that a long kernel's output is seen while it runs.
constexpr std::size_t kHandOnBytes = 16u << 10;
} // namespace

int PrintfCollector::write(void* context, const FarclPrintfRecord* record) noexcept {
  try {
    return static_cast<PrintfCollector*>(context)->add(kernel_compiler::format_printf(*record));
  } catch (const std::exception&) {
    return -1; // no memory: what printf returns when it fails
  }
}

int PrintfCollector::add(const std::string& text) {
  auto gathered = text_.lock();
  *gathered += text;
  if (gathered->size() < kHandOnBytes) {
    return 0;
  }
  const std::size_t end = gathered->rfind('\n');
  const std::size_t count = end == std::string::npos ? gathered->size() : end + 1;
  std::string lines = gathered->substr(0, count);
  gathered->erase(0, count);
  return sink_.print(std::move(lines)) ? 0 : -1; // under the lock: lines stay in order
}

void PrintfCollector::finish() noexcept {
  std::string rest = text_.with([](std::string& text) { return std::exchange(text, {}); });
  if (!rest.empty()) {
    (void)sink_.print(std::move(rest));
  }
}

} // namespace farcl::daemon
