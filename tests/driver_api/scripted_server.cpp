#include "tests/driver_api/scripted_server.hpp"

#include "farcl/net/loopback.hpp"

#include <utility>

namespace farcl::test {

using namespace protocol;

namespace {
constexpr std::int32_t kFailedWaitList = -14; // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
}

ScriptedServer::ScriptedServer(ServerInfo info) : info_(std::move(info)) {
  auto [client, server] = net::make_loopback();
  client_end_ = std::move(client);
  server_end_ = std::move(server);
  sender_.append(info_);
  thread_ = std::thread([this] { main(); });
}

ScriptedServer::~ScriptedServer() {
  kill();
  thread_.join();
}

net::Connector ScriptedServer::connector() {
  return [this](const Hello&) -> Result<net::Connection> {
    if (client_end_ == nullptr) {
      return fail(ErrorCode::kDisconnected, "refused");
    }
    return net::Connection{std::move(client_end_), HelloReply{.session = {1}}};
  };
}

void ScriptedServer::kill() {
  stop_.store(true);
  server_end_->shutdown();
  waker_.notify();
}

void ScriptedServer::main() {
  while (!stop_.load()) {
    const auto got = receiver_.poll(*server_end_, *this);
    if (!got || !sender_.flush(*server_end_)) {
      break;
    }
    if (*got == 0) {
      sender_.append_acknowledgement();
      (void)sender_.flush(*server_end_);
      const auto interest = sender_.unsent_bytes() != 0 ? net::Interest::kReadable | net::Interest::kWritable : net::Interest::kReadable;
      (void)server_end_->wait(interest, std::chrono::milliseconds(50), &waker_);
    }
  }
  server_end_->shutdown();
}

Status ScriptedServer::on_message(Opcode opcode, ConstBytes payload) {
  return Dispatcher<ClientMessages, ScriptedServer>::dispatch(*this, opcode, payload);
}

Result<MutableBytes> ScriptedServer::bulk_destination(const BulkHeader&, std::size_t size) {
  scratch_.resize(size);
  return MutableBytes(scratch_);
}

void ScriptedServer::command(const CommandHeader& header, std::function<void(std::int32_t)> complete) {
  waiting_.push_back({header, std::move(complete)});
  settle();
}

void ScriptedServer::finish_event(EventId event, std::int32_t status, bool notify) {
  if (event) {
    events_[event] = status;
  }
  if (event && notify) {
    CompletionTimes times{1, 2, 3};
    sender_.append(Completions{{Completion{event, status, times}}});
  }
}

/// Completes every command whose wait list has.
void ScriptedServer::settle() {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      std::int32_t status = 0;
      bool ready = true;
      for (const EventId event : waiting_[i].command.wait_list) {
        const auto known = events_.find(event);
        ready &= known != events_.end();
        status = known != events_.end() && known->second < 0 ? kFailedWaitList : status;
      }
      if (!ready) {
        continue;
      }
      const Waiting done = std::move(waiting_[i]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      if (done.complete) {
        done.complete(status);
      }
      finish_event(done.command.event, status, done.command.notify);
      again = true;
      break;
    }
  }
}

Status ScriptedServer::handle(SetUserEventStatus&& message) {
  events_[message.event] = message.status;
  settle();
  return {};
}

Status ScriptedServer::handle(BuildProgram&& message) {
  if (script_.with([&](Script& script) { return script.wants_source && script.wants_source(message); })) {
    sender_.append(SourceWanted{message.request});
    return {};
  }
  BuildDone done = script_.with([&](Script& script) { return script.on_build ? script.on_build(message) : BuildDone{}; });
  done.request = message.request;
  sender_.append(done);
  return {};
}

Status ScriptedServer::handle(GetProgramBinary&& message) {
  script_.with([&](Script& script) { sender_.append(ProgramBinary{message.request, 0, script.binary}); });
  return {};
}

Status ScriptedServer::handle(EnqueueKernel&& message) {
  command(message.command);
  return {};
}

Status ScriptedServer::handle(EnqueueRead&& message) {
  const std::int32_t scripted = script_.with([](Script& script) { return script.read_status; });
  const auto size = size_bytes(message.rect);
  if (!size) {
    return fail(ErrorCode::kInvalid, size.error().message);
  }
  command(message.command, [this, scripted, bytes = *size, transfer = message.transfer](std::int32_t status) {
    ReadResult result{.transfer = transfer, .status = status != 0 ? status : scripted};
    auto zeros = std::make_shared<ByteVector>(bytes);
    if (result.status == 0 && bytes > kMaxInlineBytes) {
      sender_.append_bulk(transfer, 0, *zeros, zeros);
    } else if (result.status == 0) {
      result.data = *zeros;
    }
    sender_.append(result);
  });
  return {};
}

Status ScriptedServer::handle(EnqueueWrite&& message) {
  command(message.command);
  return {};
}
Status ScriptedServer::handle(EnqueueCopy&& message) {
  command(message.command);
  return {};
}
Status ScriptedServer::handle(EnqueueFill&& message) {
  command(message.command);
  return {};
}
Status ScriptedServer::handle(EnqueueMarker&& message) {
  command(message.command);
  return {};
}

Status ScriptedServer::handle(Finish&& message) {
  const std::int32_t status = script_.with([](Script& script) { return std::exchange(script.finish_status, 0); });
  sender_.append(Finished{message.request, status});
  return {};
}

} // namespace farcl::test
