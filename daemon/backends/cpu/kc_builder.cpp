#include "daemon/backends/cpu/kc_builder.hpp"

#include "daemon/backends/cpu/launch.hpp"

#include <algorithm>
#include <poll.h>

namespace farcl::daemon {

namespace {
using namespace std::chrono_literals;
namespace kc = kernel_compiler;

/// Without a service a build waits this long for the supervisor to start another one.
constexpr auto kServiceRestartTime = 5s;
constexpr auto kLongestWait = 60s;

class CpuProgram final : public DeviceProgram {
public:
  CpuProgram(std::shared_ptr<const ProgramInfo> info, kc::LoadedProgram loaded) : info_(std::move(info)), loaded_(std::move(loaded)) {
    kernels_.reserve(info_->kernels.size());
    for (const KernelInfo& kernel : info_->kernels) {
      kernels_.emplace_back(kernel, loaded_.find(kernel.name));
    }
  }
  [[nodiscard]] const DeviceKernel* kernel(std::size_t index) const noexcept override {
    return index < kernels_.size() && kernels_[index].function() != nullptr ? &kernels_[index] : nullptr;
  }

private:
  std::shared_ptr<const ProgramInfo> info_;
  kc::LoadedProgram loaded_;
  std::vector<CpuKernel> kernels_;
};

kc::CompileRequest to_compile_request(BuildRequest&& from) {
  kc::CompileRequest request;
  switch (from.stage) {
  case protocol::BuildStage::kBuild: request.stage = kc::Stage::kBuild; break;
  case protocol::BuildStage::kCompile: request.stage = kc::Stage::kCompile; break;
  case protocol::BuildStage::kLink: request.stage = kc::Stage::kLink; break;
  }
  request.source = std::move(from.source);
  for (const auto& input : from.inputs) {
    request.inputs.push_back({*input});
  }
  for (auto& [path, text] : from.headers) {
    request.headers.push_back({std::move(path), std::move(text)});
  }
  request.options = std::move(from.options);
  request.hash = from.hash;
  return request;
}

cl_int failure_of(kc::Stage stage) {
  switch (stage) {
  case kc::Stage::kBuild: return CL_BUILD_PROGRAM_FAILURE;
  case kc::Stage::kCompile: return CL_COMPILE_PROGRAM_FAILURE;
  case kc::Stage::kLink: return CL_LINK_PROGRAM_FAILURE;
  }
  return CL_BUILD_PROGRAM_FAILURE;
}

cl_int to_status(kc::CompileStatus status, kc::Stage stage) {
  switch (status) {
  case kc::CompileStatus::kOk: return CL_SUCCESS;
  case kc::CompileStatus::kBuildFailure: return failure_of(stage);
  case kc::CompileStatus::kInvalidBuildOptions: return CL_INVALID_BUILD_OPTIONS;
  case kc::CompileStatus::kInvalidCompilerOptions: return CL_INVALID_COMPILER_OPTIONS;
  case kc::CompileStatus::kInvalidLinkerOptions: return CL_INVALID_LINKER_OPTIONS;
  case kc::CompileStatus::kInvalidBinary: return CL_INVALID_BINARY;
  case kc::CompileStatus::kSourceWanted: break; // no end of a build: finish() looks at it first
  }
  return failure_of(stage);
}

cl_program_binary_type type_of(kc::Stage stage, bool executable) {
  if (stage == kc::Stage::kCompile) {
    return CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
  }
  return executable ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : CL_PROGRAM_BINARY_TYPE_LIBRARY;
}

BuildResult failed(cl_int status, std::string log) {
  BuildResult result;
  result.status = status;
  result.log = std::move(log);
  result.info = std::make_shared<const ProgramInfo>();
  return result;
}
} // namespace

KcBuilder::KcBuilder(UniqueFd compile_service, std::chrono::seconds build_limit)
    : build_limit_(build_limit), mail_([this] { waker_.notify(); }) {
  if (compile_service) {
    service_.emplace(std::move(compile_service));
  }
  thread_ = std::thread([this] { run(); });
}

KcBuilder::~KcBuilder() {
  mail_.close();
  thread_.join();
}

void KcBuilder::build(BuildRequest request, std::function<void(BuildResult)> done) {
  mail_.post(Order{to_compile_request(std::move(request)), std::move(done), Clock::now() + build_limit_});
}

void KcBuilder::replace(UniqueFd compile_service) { mail_.post(std::move(compile_service)); }

void KcBuilder::run() {
  while (!mail_.closed()) {
    for (Mail& mail : mail_.take_all()) {
      std::visit([this](auto& one) { take(std::move(one)); }, mail);
    }
    receive();
    end_late_builds();
    if (!mail_.closed()) {
      wait();
    }
  }
}

void KcBuilder::take(Order order) { send(std::move(order)); }

void KcBuilder::take(UniqueFd compile_service) {
  service_.emplace(std::move(compile_service));
  std::vector<Order> again;
  again.swap(unsent_);
  for (auto& [id, order] : sent_) {
    again.push_back(std::move(order));
  }
  sent_.clear();
  for (Order& order : again) {
    send(std::move(order));
  }
}

void KcBuilder::send(Order order) {
  if (!service_) {
    order.until = std::min(order.until, Clock::now() + kServiceRestartTime);
    unsent_.push_back(std::move(order));
    return;
  }
  auto id = service_->send(order.request);
  if (id) {
    sent_.emplace(*id, std::move(order));
  } else if (id.error().code == ErrorCode::kLimit || id.error().code == ErrorCode::kInvalid) {
    order.done(failed(failure_of(order.request.stage), std::move(id.error().message)));
  } else {
    lose_service(id.error().message);
    send(std::move(order));
  }
}

void KcBuilder::wait() {
  auto until = Clock::now() + kLongestWait;
  for (const auto& [id, order] : sent_) {
    until = std::min(until, order.until);
  }
  for (const Order& order : unsent_) {
    until = std::min(until, order.until);
  }
  const auto timeout_ms = std::chrono::ceil<std::chrono::milliseconds>(std::max<Clock::duration>(until - Clock::now(), 0s)).count();
  if (waker_.arm()) {
    pollfd descriptors[2] = {{waker_.descriptor(), POLLIN, 0}, {service_ ? service_->fd() : -1, POLLIN, 0}};
    ::poll(descriptors, 2, static_cast<int>(timeout_ms));
    waker_.disarm();
  }
  (void)waker_.consume();
}

void KcBuilder::receive() {
  while (service_) {
    pollfd readable{service_->fd(), POLLIN, 0};
    if (::poll(&readable, 1, 0) <= 0) {
      return;
    }
    auto reply = service_->receive(std::chrono::duration_cast<std::chrono::milliseconds>(kServiceRestartTime));
    if (!reply) {
      lose_service(reply.error().message);
      return;
    }
    if (!*reply) {
      return;
    }
    const auto found = sent_.find((*reply)->request_id);
    if (found != sent_.end()) {
      Order order = std::move(found->second);
      sent_.erase(found);
      finish(order, std::move(**reply));
    }
  }
}

void KcBuilder::finish(Order& order, kc::CompileReply reply) {
  const kc::Stage stage = order.request.stage;
  BuildResult result;
  result.source_wanted = reply.data.status == kc::CompileStatus::kSourceWanted;
  result.status = to_status(reply.data.status, stage);
  result.log = std::move(reply.data.log);
  result.info = std::make_shared<const ProgramInfo>(std::move(reply.data.info));
  if (result.status == CL_SUCCESS) {
    result.binary_type = type_of(stage, reply.data.has_shared_object);
    result.binary = std::make_shared<const ByteVector>(std::move(reply.data.binary));
    if (reply.data.has_shared_object) {
      auto loaded = kc::LoadedProgram::load(std::move(reply.shared_object));
      if (!loaded) {
        order.done(failed(failure_of(stage), result.log + loaded.error().message + "\n"));
        return;
      }
      result.program = std::make_shared<CpuProgram>(result.info, std::move(*loaded));
    }
  }
  order.done(std::move(result));
}

void KcBuilder::lose_service(const std::string&) {
  service_.reset();
  const auto until = Clock::now() + kServiceRestartTime;
  for (auto& [id, order] : sent_) {
    order.until = std::min(order.until, until);
    unsent_.push_back(std::move(order));
  }
  sent_.clear();
}

void KcBuilder::end_late_builds() {
  const auto now = Clock::now();
  for (auto one = sent_.begin(); one != sent_.end();) {
    if (one->second.until <= now) {
      one->second.done(failed(failure_of(one->second.request.stage),
                              "the compiler did not answer within " + std::to_string(build_limit_.count()) + " s\n"));
      one = sent_.erase(one);
    } else {
      ++one;
    }
  }
  for (std::size_t i = 0; i < unsent_.size();) {
    if (unsent_[i].until <= now) {
      unsent_[i].done(failed(failure_of(unsent_[i].request.stage), "the server's compile service is gone\n"));
      unsent_.erase(unsent_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

} // namespace farcl::daemon
