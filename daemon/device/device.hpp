// The Device seam: what the session knows of an OpenCL device. Implementations: cpu (daemon/backends/cpu), the fake of the
// tests (fake_device.hpp); a vendor's ICD and plugins will follow.
//
// Threads: every function is called on the session thread. Completions, printed text and build results may be delivered on any
// thread, through CompletionSink and the build callback, which are thread safe and never block.
//
// Dependencies are resolved before submit: a device may start what it is given at once, and run commands side by side. A
// backend that can order commands itself (events of a vendor's driver) would get them at submit, as tokens of commands that
// were submitted before; Scheduler::start_ready is the only place that holds them back.
#pragma once

#include "daemon/device/command.hpp"
#include "farcl/base/content_hash.hpp"
#include "farcl/base/result.hpp"
#include "farcl/protocol/messages/program.hpp"
#include "farcl/protocol/messages/session.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace farcl::daemon {

/// Names a submitted command in its completion; the submitter's choice.
using Token = std::uint64_t;

struct DeviceResult {
  cl_int status = CL_COMPLETE;  ///< or a negative error
  std::uint64_t started_ns = 0; ///< device clock; 0 if times were not asked for
  std::uint64_t ended_ns = 0;
};

class CompletionSink {
public:
  virtual ~CompletionSink() = default;
  virtual void complete(Token token, const DeviceResult& result) noexcept = 0;
  /// What a kernel printed: whole lines, before that launch's completion. False: too much is waiting, the text was dropped.
  virtual bool print(std::string text) noexcept = 0;
};

struct BuildRequest {
  protocol::BuildStage stage = protocol::BuildStage::kBuild;
  std::string source;
  std::vector<std::shared_ptr<const ByteVector>> inputs;    ///< earlier BuildResult::binary of the same builder
  std::vector<std::pair<std::string, std::string>> headers; ///< path, text
  std::string options;
  /// Instead of all that: the hash of a source (add_program) that the builder may know from an earlier build of anybody. It must have made
  /// that hash itself, of a source that it got.
  std::optional<ContentHash> hash;
};

struct BuildResult {
  cl_int status = CL_SUCCESS;
  bool source_wanted = false; ///< BuildRequest::hash is not known
  cl_program_binary_type binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  std::string log;
  std::shared_ptr<const ProgramInfo> info;      ///< never null
  std::shared_ptr<const ByteVector> binary;     ///< null if the build failed
  std::shared_ptr<const DeviceProgram> program; ///< null unless something can be launched
};

/// Builds programs for all devices that name it; builds never delay commands.
class ProgramBuilder {
public:
  virtual ~ProgramBuilder() = default;
  /// Part of a program binary's header: binaries of one builder are refused by another.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Calls `done` exactly once, on any thread, within a bounded time.
  virtual void build(BuildRequest request, std::function<void(BuildResult)> done) = 0;
};

/// Memory that a session's client can reach too. A device that computes in this process's memory takes the blocks of buffers from here
/// when it is given one; devices with memory of their own ignore it.
class SharedMemorySource {
public:
  virtual ~SharedMemorySource() = default;
  /// Null: take it from elsewhere. Blocks start as zeros.
  [[nodiscard]] virtual MemoryPtr allocate(std::uint64_t size_bytes) = 0;
};

class Device {
public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const protocol::DeviceInfo& info() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t local_memory_bytes() const noexcept = 0;
  [[nodiscard]] virtual ProgramBuilder& builder() noexcept = 0;
  [[nodiscard]] virtual Result<MemoryPtr> allocate(std::uint64_t size_bytes, SharedMemorySource* shared) = 0; ///< `shared` may be null

  /// Starts a command. A result means that it ran, whole, before the call returned (short commands that the device can run
  /// faster than hand over); nothing means that `sink` will get its completion. `want_times`: fill the result's times in.
  virtual std::optional<DeviceResult> submit(const DeviceCommand& command, Token token, bool want_times, CompletionSink& sink) = 0;
};

/// The clock of CompletionTimes.
[[nodiscard]] std::uint64_t device_clock_ns() noexcept;

} // namespace farcl::daemon
