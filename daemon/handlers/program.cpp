// Programs. Builds run elsewhere; their results come back through the session's mailbox (on_built).
#include "daemon/handlers/handlers.hpp"
#include "daemon/handlers/program_binary.hpp"

#include <algorithm>
#include <string>

namespace farcl::daemon {

namespace {
constexpr std::size_t kMaxBuildsInFlight = 1024;
/// A reply must fit one frame; what is longer is not a program that anybody wrote.
constexpr std::size_t kMaxBuildDoneBytes = protocol::kMaxFramePayloadBytes;

cl_int missing_input_status(protocol::BuildStage stage) {
  return stage == protocol::BuildStage::kLink ? CL_LINK_PROGRAM_FAILURE : CL_INVALID_PROGRAM;
}

std::size_t source_bytes(const protocol::BuildProgram& message) {
  std::size_t bytes = message.options.size();
  for (const auto& header : message.headers) {
    bytes += header.path.size() + header.text.size();
  }
  for (const auto& input : message.inputs) {
    if (const auto* source = std::get_if<protocol::SourceInput>(&input); source != nullptr) {
      bytes += source->text.size();
    } else if (const auto* binary = std::get_if<protocol::BinaryInput>(&input); binary != nullptr) {
      bytes += binary->bytes.size();
    }
  }
  return bytes;
}

BuildResult failed(cl_int status, std::string log) {
  BuildResult result;
  result.status = status;
  result.log = std::move(log);
  result.info = std::make_shared<const ProgramInfo>();
  return result;
}

/// A hash stands for everything else, so nothing else may be there.
bool has_misplaced_hash(const protocol::BuildProgram& message) {
  const bool has_hash = std::any_of(message.inputs.begin(), message.inputs.end(),
                                    [](const auto& input) { return std::holds_alternative<protocol::HashedInput>(input); });
  return has_hash && (message.inputs.size() != 1 || !message.headers.empty() || !message.options.empty() ||
                      message.stage == protocol::BuildStage::kLink);
}

std::string as_text(ConstBytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
} // namespace

/// On failure `status` is what the build ends with.
Result<BuildRequest> Handlers::make_request(const protocol::BuildProgram& message, const ProgramBuilder& builder, cl_int& status) {
  BuildRequest request;
  request.stage = message.stage;
  request.options = message.options;
  for (const auto& header : message.headers) {
    request.headers.emplace_back(header.path, as_text(header.text));
  }
  for (const auto& input : message.inputs) {
    if (const auto* source = std::get_if<protocol::SourceInput>(&input); source != nullptr) {
      request.source += as_text(source->text);
    } else if (const auto* binary = std::get_if<protocol::BinaryInput>(&input); binary != nullptr) {
      auto opened = open_binary(builder.name(), binary->bytes);
      if (!opened) {
        status = CL_INVALID_BINARY;
        return pass_on(std::move(opened));
      }
      request.inputs.push_back(std::make_shared<const ByteVector>(opened->contents.begin(), opened->contents.end()));
    } else if (const auto* hashed = std::get_if<protocol::HashedInput>(&input); hashed != nullptr) {
      request.hash = hashed->hash;
    } else {
      const auto* program = state_.programs.find(std::get<protocol::ProgramInput>(input).program);
      const BuildResult* build = program == nullptr ? nullptr : (*program)->build_for(&builder);
      if (build == nullptr || build->binary == nullptr) {
        status = missing_input_status(message.stage);
        return fail(ErrorCode::kInvalid, "an input program has not been compiled");
      }
      request.inputs.push_back(build->binary);
    }
  }
  return request;
}

Status Handlers::handle(protocol::BuildProgram&& message) {
  if (auto status = check_object_limit(); !status) {
    return status;
  }
  if (state_.contexts.find(message.context) == nullptr || !message.program || message.devices.empty()) {
    return fail(ErrorCode::kInvalid, "a build in an unknown context, for no program or for no device");
  }
  if (has_misplaced_hash(message)) {
    return fail(ErrorCode::kInvalid, "a build with the hash of a source and something else");
  }
  std::vector<ProgramBuilder*> builders;
  for (const std::uint32_t device : message.devices) {
    if (device >= state_.parts.devices.size()) {
      return fail(ErrorCode::kInvalid, "a build for the unknown device " + std::to_string(device));
    }
    ProgramBuilder* builder = &state_.parts.devices[device]->builder();
    if (std::find(builders.begin(), builders.end(), builder) == builders.end()) {
      builders.push_back(builder);
    }
  }
  if (state_.programs.find(message.program) == nullptr) {
    auto program = std::make_shared<Program>();
    program->context = message.context;
    state_.programs.insert(message.program, std::move(program));
  }
  PendingBuild build;
  build.request = message.request;
  build.program = *state_.programs.find(message.program);
  build.stage = message.stage;
  build.missing = builders.size();
  build.share = state_.staging.take(source_bytes(message) * builders.size());
  if (!build.share || state_.builds.size() >= kMaxBuildsInFlight) {
    build.results.emplace_back(builders.front(), failed(CL_OUT_OF_RESOURCES, "too many builds at once in this session"));
    finish_build(std::move(build));
    return {};
  }
  const std::uint64_t number = state_.next_build++;
  state_.builds.emplace_back(number, std::move(build));
  for (ProgramBuilder* builder : builders) {
    cl_int status = CL_SUCCESS;
    auto request = make_request(message, *builder, status);
    if (!request) {
      on_built({number, builder, failed(status, std::move(request.error().message))});
      continue;
    }
    builder->build(std::move(*request),
                   [post = state_.post_built, number, builder](BuildResult result) { post({number, builder, std::move(result)}); });
  }
  return {};
}

void Handlers::on_built(BuildArrival arrival) {
  const auto found = std::find_if(state_.builds.begin(), state_.builds.end(), [&](const auto& one) { return one.first == arrival.build; });
  if (found == state_.builds.end()) {
    return;
  }
  PendingBuild& build = found->second;
  build.results.emplace_back(arrival.builder, std::move(arrival.result));
  if (--build.missing == 0) {
    PendingBuild done = std::move(build);
    state_.builds.erase(found);
    finish_build(std::move(done));
  }
}

/// The first failure decides the status; logs are joined; kernels are the same for all builders.
void Handlers::finish_build(PendingBuild build) {
  if (std::any_of(build.results.begin(), build.results.end(), [](const auto& one) { return one.second.source_wanted; })) {
    state_.outbox.send(protocol::SourceWanted{build.request}); // what the program was built to before stays
    return;
  }
  protocol::BuildDone done;
  done.request = build.request;
  const auto& [first_builder, first] = build.results.front();
  done.binary_type = first.binary_type;
  done.info = *first.info;
  if (first.binary != nullptr) {
    done.binary_bytes = sealed_bytes(first_builder->name(), first.binary->size());
  }
  for (const auto& [builder, result] : build.results) {
    done.status = done.status == CL_SUCCESS ? result.status : done.status;
    done.log += result.log;
  }
  if (done.log.size() > protocol::kMaxBuildLogBytes) {
    done.log.resize(protocol::kMaxBuildLogBytes);
  }
  if (encode(done).size() > kMaxBuildDoneBytes) {
    done.info = {};
    done.status = CL_OUT_OF_RESOURCES;
    done.log = "the descriptions of this program's kernels are too long";
    build.results.clear();
  }
  build.program->builds = std::move(build.results);
  state_.outbox.send(done);
}

Status Handlers::handle(protocol::GetProgramBinary&& message) {
  const auto* program = state_.programs.find(message.program);
  protocol::ProgramBinary reply;
  reply.request = message.request;
  ByteVector sealed;
  if (program == nullptr) {
    reply.status = CL_INVALID_PROGRAM;
  } else if ((*program)->builds.empty() || (*program)->builds.front().second.binary == nullptr) {
    reply.status = CL_INVALID_PROGRAM_EXECUTABLE;
  } else {
    const auto& [builder, build] = (*program)->builds.front();
    sealed = seal_binary(builder->name(), build.binary_type, *build.binary);
    if (sealed.size() > protocol::kMaxProgramBinaryBytes) {
      reply.status = CL_OUT_OF_RESOURCES;
    } else {
      reply.bytes = sealed;
    }
  }
  state_.outbox.send(reply);
  return {};
}

} // namespace farcl::daemon
