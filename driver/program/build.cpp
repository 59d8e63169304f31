#include "driver/program/build.hpp"

#include "driver/session/callback_thread.hpp"
#include "driver/session/session.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace farcl::driver {
namespace {

using protocol::BuildStage;

/// The codes that the API call of each stage may return.
struct StageCodes {
  cl_int failure;
  cl_int invalid_options;
};
StageCodes codes_of(BuildStage stage) {
  switch (stage) {
  case BuildStage::kBuild: return {CL_BUILD_PROGRAM_FAILURE, CL_INVALID_BUILD_OPTIONS};
  case BuildStage::kCompile: return {CL_COMPILE_PROGRAM_FAILURE, CL_INVALID_COMPILER_OPTIONS};
  case BuildStage::kLink: return {CL_LINK_PROGRAM_FAILURE, CL_INVALID_LINKER_OPTIONS};
  }
  return {CL_OUT_OF_RESOURCES, CL_OUT_OF_RESOURCES};
}

/// What a server says is hostile until checked: only codes of this stage reach the program.
cl_int code_of(BuildStage stage, cl_int status) {
  const StageCodes codes = codes_of(stage);
  if (status == CL_SUCCESS || status == codes.failure || status == codes.invalid_options ||
      (status == CL_INVALID_BINARY && stage == BuildStage::kBuild)) {
    return status;
  }
  return status == CL_INVALID_BINARY ? codes.failure : CL_OUT_OF_RESOURCES;
}

/// A request with everything that its views refer to.
struct Request {
  protocol::BuildProgram message;
  std::optional<protocol::BuildProgram> by_hash; ///< asked first, if the source is large
  std::vector<SourceHeader> headers;
  std::uint64_t content_bytes = 0; ///< of sources, binaries, headers and options
};

ConstBytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Sums the request up. False: too large for one message, which is where all of it must fit: each part and the whole.
bool measure(Request& request) {
  std::uint64_t total = request.message.options.size();
  for (const protocol::BuildInput& input : request.message.inputs) {
    if (const auto* source = std::get_if<protocol::SourceInput>(&input)) {
      if (source->text.size() > protocol::kMaxSourceBytes) {
        return false;
      }
      total += source->text.size();
    } else if (const auto* binary = std::get_if<protocol::BinaryInput>(&input)) {
      total += binary->bytes.size();
    }
  }
  for (const SourceHeader& header : request.headers) {
    if (header.path.size() > protocol::kMaxPathBytes || header.text.size() > protocol::kMaxSourceBytes) {
      return false;
    }
    total += header.path.size() + header.text.size() + 2 * sizeof(std::uint64_t);
  }
  request.content_bytes = total;
  return total <= protocol::kMaxFramePayloadBytes - (64u << 10) && request.message.inputs.size() <= protocol::kMaxBuildInputs &&
         request.headers.size() <= protocol::kMaxHeadersPerBuild && request.message.options.size() <= protocol::kMaxBuildOptionsBytes;
}

/// The same request without its source, headers and options.
protocol::BuildProgram make_by_hash(const Program& program, const Request& request) {
  ContentHasher hasher;
  add_program(hasher, static_cast<std::uint8_t>(request.message.stage), program.source(), request.headers, request.message.options);
  protocol::BuildProgram brief;
  brief.program = request.message.program;
  brief.context = request.message.context;
  brief.devices = request.message.devices;
  brief.stage = request.message.stage;
  brief.inputs = {protocol::HashedInput{hasher.finish()}};
  return brief;
}

protocol::BuildInput input_of(Program& program) {
  switch (program.kind()) {
  case ProgramKind::kSource: return protocol::SourceInput{bytes_of(program.source())};
  case ProgramKind::kBinary: return protocol::BinaryInput{program.binary()};
  case ProgramKind::kLinked: break;
  }
  return protocol::ProgramInput{program.id()};
}

/// A linker's input: what the server has compiled stays there, only a binary that was never built has to travel.
protocol::BuildInput link_input_of(Program& program) {
  const bool built = program.build().with([](const BuildState& build) { return build.status == CL_BUILD_SUCCESS; });
  return program.kind() == ProgramKind::kBinary && !built ? input_of(program) : protocol::ProgramInput{program.id()};
}

Result<Request> make_request(Program& program, const BuildJob& job) {
  Request request;
  protocol::BuildProgram& message = request.message;
  message.program = program.id();
  message.context = program.context().id();
  message.stage = job.stage;
  message.options = job.options;
  for (const Device* device : job.devices) {
    message.devices.push_back(device->index());
  }
  if (job.stage == BuildStage::kLink) {
    for (const Ref<Program>& input : job.inputs) {
      message.inputs.push_back(link_input_of(*input));
    }
  } else {
    message.inputs.push_back(input_of(program));
  }
  if (program.kind() == ProgramKind::kSource) {
    Result<std::vector<SourceHeader>> found = scan_headers(program.source(), job.options, job.embedded_headers);
    if (!found) {
      return pass_on(std::move(found));
    }
    request.headers = job.embedded_headers;
    std::move(found->begin(), found->end(), std::back_inserter(request.headers));
  }
  if (!measure(request)) {
    return fail(ErrorCode::kLimit,
                "the program is larger than one build can take (" + std::to_string(protocol::kMaxFramePayloadBytes >> 20) + " MiB)");
  }
  for (const SourceHeader& header : request.headers) {
    message.headers.push_back({header.path, bytes_of(header.text)});
  }
  if (program.kind() == ProgramKind::kSource && request.content_bytes > protocol::kSourceAlongBytes) {
    request.by_hash = make_by_hash(program, request);
  }
  return request;
}

/// Ends the build with what the server said.
cl_int finish(Program& program, BuildStage stage, protocol::BuildDone done) {
  const cl_int code = code_of(stage, done.status);
  program.build().with([&](BuildState& build) {
    build.status = code == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    build.log = std::move(done.log);
    build.binary_type = code == CL_SUCCESS ? done.binary_type : cl_uint{CL_PROGRAM_BINARY_TYPE_NONE};
    build.binary_bytes = code == CL_SUCCESS ? done.binary_bytes : 0;
    build.info = code == CL_SUCCESS && done.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE
                     ? std::make_shared<const ProgramInfo>(std::move(done.info))
                     : nullptr;
  });
  return code;
}

/// Ends the build without the server: `code` and a log of one sentence.
cl_int finish_locally(Program& program, cl_int code, const std::string& sentence) {
  program.build().with([&](BuildState& build) {
    build.status = CL_BUILD_ERROR;
    build.log = "FarCL: " + sentence + "\n";
    build.binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
    build.binary_bytes = 0;
    build.info = nullptr;
  });
  return code;
}

cl_int finish(Program& program, BuildStage stage, BuildAnswer answer) {
  if (!answer) {
    return finish_locally(program, CL_OUT_OF_RESOURCES, answer.error().message);
  }
  if (!*answer) {
    return finish_locally(program, CL_OUT_OF_RESOURCES, "the server asks for a source that it has got");
  }
  return finish(program, stage, std::move(**answer));
}

bool source_is_wanted(const BuildAnswer& answer) { return answer && !*answer; }

/// A large source that the server may know is asked for by its hash first. At most 2 round trips.
BuildAnswer ask(ServerSession& session, Request& request) {
  if (request.by_hash) {
    BuildAnswer answer = session.build(*request.by_hash);
    if (!source_is_wanted(answer)) {
      return answer;
    }
  }
  return session.build(request.message);
}

/// As ask(), and calls `done` on the callback thread.
void ask_async(ServerSession& session, std::shared_ptr<Request> request, std::function<void(BuildAnswer)> done) {
  if (!request->by_hash) {
    return session.build_async(request->message, std::move(done));
  }
  session.build_async(*request->by_hash, [&session, request, done = std::move(done)](BuildAnswer answer) mutable {
    if (source_is_wanted(answer)) {
      session.build_async(request->message, std::move(done));
    } else {
      done(std::move(answer));
    }
  });
}

void build_with_callback(Program& program, BuildJob job, Result<Request> request) {
  Ref<Program> kept(&program);
  const auto notify = [kept, pfn_notify = job.pfn_notify, user_data = job.user_data] { pfn_notify(kept->handle(), user_data); };
  if (!request) {
    finish_locally(program, codes_of(job.stage).failure, request.error().message);
    post_callback(notify);
    return;
  }
  ask_async(program.session(), std::make_shared<Request>(std::move(*request)), [kept, stage = job.stage, notify](BuildAnswer answer) {
    finish(*kept, stage, std::move(answer));
    notify();
  });
}

} // namespace

cl_int begin_build(Program& program, const BuildJob& job) {
  return program.build().with([&](BuildState& build) -> cl_int {
    if (build.status == CL_BUILD_IN_PROGRESS || program.kernel_count().load(std::memory_order_acquire) != 0) {
      return CL_INVALID_OPERATION;
    }
    build = BuildState{};
    build.status = CL_BUILD_IN_PROGRESS;
    build.devices = job.devices;
    build.options = job.options;
    return CL_SUCCESS;
  });
}

cl_int build(Program& program, BuildJob job) {
  try {
    Result<Request> request = make_request(program, job);
    if (request) {
      program.set_known_to_server();
    }
    if (job.pfn_notify != nullptr) {
      build_with_callback(program, std::move(job), std::move(request));
      return CL_SUCCESS;
    }
    if (!request) {
      return finish_locally(program, codes_of(job.stage).failure, request.error().message);
    }
    return finish(program, job.stage, ask(program.session(), *request));
  } catch (...) { // out of memory, most likely: the program must not stay "in progress"
    finish_locally(program, CL_OUT_OF_HOST_MEMORY, "the build ran out of memory");
    throw;
  }
}

bool is_built_for(Program& program, const Device& device) {
  if (program.devices().size() == 1) { // an executable, or there would be no kernel to ask for
    return program.devices().front() == &device;
  }
  return program.build().with(
      [&](const BuildState& build) { return std::find(build.devices.begin(), build.devices.end(), &device) != build.devices.end(); });
}

} // namespace farcl::driver
