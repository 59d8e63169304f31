#include "farcl/kernel_compiler/client.hpp"

#include <atomic>
#include <cerrno>
#include <dlfcn.h>

namespace farcl::kernel_compiler {
namespace {

constexpr const char* kKernelPrefix = "farcl_kernel_";
constexpr const char* kVersionSymbol = "farcl_abi_version";

/// dlopen takes two equal path strings for one library, even when the descriptor behind was closed and used again. Each
/// load gets a spelling of its own: "/proc/self/fd/" with a running number of redundant path parts.
std::string unique_path(int fd) {
  static std::atomic<std::uint64_t> next{0};
  std::string path = "/proc/self";
  // Base 2 in "/." and "//": 40 bits of numbers stay well under PATH_MAX.
  for (std::uint64_t number = next.fetch_add(1) + 1; number != 0; number >>= 1) {
    path += (number & 1) != 0 ? "/." : "/";
  }
  return path + "/fd/" + std::to_string(fd);
}

} // namespace

void LoadedProgram::CloseHandle::operator()(void* handle) const noexcept { ::dlclose(handle); }

Result<LoadedProgram> LoadedProgram::load(UniqueFd shared_object) {
  const std::string path = unique_path(shared_object.get());
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return fail(ErrorCode::kInternal, std::string("cannot load compiled kernels: ") + (reason != nullptr ? reason : "no reason given"));
  }
  LoadedProgram program(handle);
  const auto* version = static_cast<const std::uint32_t*>(::dlsym(handle, kVersionSymbol));
  if (version == nullptr || *version != FARCL_KERNEL_ABI_VERSION) {
    return fail(ErrorCode::kUnsupported, "compiled kernels of another version of FarCL");
  }
  return program;
}

FarclKernelFunction LoadedProgram::find(const std::string& kernel_name) const {
  void* symbol = ::dlsym(handle_.get(), (kKernelPrefix + kernel_name).c_str());
  return reinterpret_cast<FarclKernelFunction>(symbol);
}

} // namespace farcl::kernel_compiler
