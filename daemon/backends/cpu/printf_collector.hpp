// PrintfCollector: gathers what the work-items of one launch print and hands it on in whole lines.
#pragma once

#include "daemon/device/device.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/kernel_compiler/kernel_abi.h"

namespace farcl::daemon {

/// Any thread may write; a printf call's text stays in one piece.
class PrintfCollector {
public:
  explicit PrintfCollector(CompletionSink& sink) : sink_(sink) {}

  /// For FarclLaunch::printf_write; `context` is a PrintfCollector.
  static int write(void* context, const FarclPrintfRecord* record) noexcept;
  /// Hands on what is left, also a last line without an end.
  void finish() noexcept;

private:
  [[nodiscard]] int add(const std::string& text);
  CompletionSink& sink_;
  Guarded<std::string> text_;
};

} // namespace farcl::daemon
