// Builds a source with one shared service and runs its kernels on this thread: what the worker does, in small.
#pragma once

#include "farcl/kernel_compiler/client.hpp"
#include "service_process.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace farcl::kernel_compiler::test {

/// The service of this test program; started at first use, stopped at exit.
ServiceProcess& shared_service();

CompileReply build(const std::string& source, const std::string& options = "");

struct Local {
  std::size_t size_bytes;
};

/// Argument values in order: vectors are buffers (changed in place), Local is a __local size, anything else a value.
class Arguments {
public:
  template <class T>
  Arguments& buffer(std::vector<T>& data) {
    return pointer(data.data());
  }
  Arguments& pointer(void* address) { return bytes(&address, sizeof address); }
  Arguments& local(std::size_t size_bytes);
  template <class T>
  Arguments& value(const T& value) {
    return bytes(&value, sizeof value);
  }

private:
  friend class Program;
  Arguments& bytes(const void* data, std::size_t size);
  struct Value {
    alignas(128) std::array<unsigned char, 512> bytes{};
  };
  std::vector<std::unique_ptr<Value>> values_;
  std::vector<std::shared_ptr<void>> memory_;
};

using Size = std::array<std::uint64_t, 3>;

class Program {
public:
  /// Builds and loads; throws with the log if that fails.
  explicit Program(const std::string& source, const std::string& options = "");

  /// All groups in order. Sizes need not be multiples: the last groups are smaller.
  void run(const std::string& kernel, Arguments& arguments, Size global, Size local, Size offset = {0, 0, 0});
  [[nodiscard]] const KernelInfo& info(const std::string& kernel) const;
  [[nodiscard]] const CompileReplyData& reply() const { return reply_; }
  /// What kernels printed, in order.
  [[nodiscard]] const std::string& printed() const { return printed_; }

private:
  static int on_printf(void* self, const FarclPrintfRecord* record);

  CompileReplyData reply_;
  std::unique_ptr<LoadedProgram> loaded_;
  std::string printed_;
};

} // namespace farcl::kernel_compiler::test
