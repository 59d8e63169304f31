#include "fake_server.hpp"

#include "driver/icd/opencl.hpp"
#include "driver/session/runtime.hpp"

#include <algorithm>
#include <cstring>

namespace farcl::test {

using namespace protocol;

namespace {
constexpr std::int32_t kFailedWaitList = -14;
constexpr std::int32_t kOpen = 1;
constexpr SessionId kSession = {7};

DeviceInfo device(unsigned index) {
  using Numbers = std::vector<std::uint64_t>;
  DeviceInfo info{"fake", {}};
  const auto number = [&](cl_device_info name, std::uint64_t value) { info.properties.push_back({name, Numbers{value}}); };
  number(CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU);
  number(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3);
  info.properties.push_back({CL_DEVICE_MAX_WORK_ITEM_SIZES, Numbers{1024, 1024, 1024}});
  number(CL_DEVICE_MAX_WORK_GROUP_SIZE, 1024);
  number(CL_DEVICE_ADDRESS_BITS, 64);
  number(CL_DEVICE_MAX_MEM_ALLOC_SIZE, 1u << 30);
  number(CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024);
  number(CL_DEVICE_LOCAL_MEM_SIZE, 65536);
  number(CL_DEVICE_COMPILER_AVAILABLE, 1);
  number(CL_DEVICE_LINKER_AVAILABLE, 1);
  info.properties.push_back({CL_DEVICE_NAME, "fake " + std::to_string(index)});
  return info;
}

ProgramInfo program_info() {
  KernelInfo empty;
  empty.name = "empty";
  empty.max_work_group_size = 1024;
  KernelInfo bump = empty;
  bump.name = "bump";
  ArgumentInfo buffer;
  buffer.name = "words";
  buffer.kind = ArgumentKind::kGlobal;
  buffer.size_bytes = 8;
  ArgumentInfo amount;
  amount.name = "amount";
  amount.kind = ArgumentKind::kValue;
  amount.size_bytes = 4;
  bump.arguments = {buffer, amount};
  return {{empty, bump}};
}

/// Calls copy(offset in the buffer, offset in the transfer, size) for each row.
template <class Copy>
void for_each_row(const BufferRect& rect, Copy&& copy) {
  std::uint64_t packed = 0;
  for (std::uint64_t z = 0; z < rect.depth; ++z) {
    for (std::uint64_t y = 0; y < rect.height; ++y, packed += rect.width_bytes) {
      copy(rect.offset + z * rect.slice_pitch + y * rect.row_pitch, packed, rect.width_bytes);
    }
  }
}

ByteVector pick(ConstBytes buffer, const BufferRect& rect) {
  ByteVector out(rect.width_bytes * rect.height * rect.depth);
  for_each_row(rect, [&](auto at, auto packed, auto size) { std::memcpy(out.data() + packed, buffer.data() + at, size); });
  return out;
}

void put(MutableBytes buffer, const BufferRect& rect, ConstBytes bytes) {
  for_each_row(rect, [&](auto at, auto packed, auto size) { std::memcpy(buffer.data() + at, bytes.data() + packed, size); });
}
} // namespace

FakeServer::FakeServer(Options options) : options_(std::move(options)) {
  ServerInfo info{.version = "0.1.0", .host_name = "fake", .clock_ns = 1, .limits = options_.limits};
  for (unsigned i = 0; i < options_.devices; ++i) {
    info.devices.push_back(device(i));
  }
  sender_.append(info);
  thread_ = std::thread([this] { main(); });
}

FakeServer::~FakeServer() {
  stop_ = true;
  waker_.notify();
  thread_.join();
}

net::Connector FakeServer::connector() {
  return [this](const Hello& hello) { return connect(hello); };
}

void FakeServer::on_reconnect(Reconnect behaviour, std::string text) {
  shared_.with([&](Shared& shared) {
    shared.reconnect = behaviour;
    shared.text = std::move(text);
  });
}

void FakeServer::cut() {
  cut_ = true;
  waker_.notify();
}

void FakeServer::say(const std::function<void(net::FrameSender&)>& appends) {
  shared_.lock()->appends.push_back(appends);
  waker_.notify();
}

// On the driver's thread. The server's thread lets go of the old connection before its numbers are looked at.
Result<net::Connection> FakeServer::connect(const Hello& hello) {
  const bool is_new = hello.session == SessionId{};
  const auto [behaviour, text] = shared_.with([](Shared& shared) { return std::pair(shared.reconnect, shared.text); });
  if (!is_new && behaviour == Reconnect::kRefused) {
    return tl::unexpected(Error{ErrorCode::kDisconnected, ECONNREFUSED, "nobody listens at the fake address"});
  }
  if (behaviour == Reconnect::kNoAnswer) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return fail(ErrorCode::kTimeout, "the fake address does not answer");
  }
  const bool further = hello.stream == StreamKind::kBulk;
  const unsigned number = static_cast<unsigned>(further ? streams_.connections.load() : connections.fetch_add(1));
  ConnectionPlan plan = (further ? options_.stream_plan : options_.plan)(number);
  if (!further) {
    plan.to_server.counters = to_server;
    plan.to_client.counters = to_client;
  }
  auto [client, server] = net::make_loopback(plan.to_server, plan.to_client);
  HelloReply reply{.session = kSession, .secret = {9}, .text = text};
  if (!is_new && behaviour != Reconnect::kWelcome) {
    reply.status = behaviour == Reconnect::kObituary ? HelloStatus::kObituary : HelloStatus::kUnknownSession;
    return net::Connection{std::move(client), reply};
  }
  if (further) {
    return streams_.connect(hello, reply, std::move(client), std::move(server));
  }
  if (!is_new) { // the server's thread drops the old connection and sets its numbers back
    shared_.with([&](Shared& shared) {
      shared.resume = hello.received;
      shared.waiting.reset(); // an older connection that nobody has looked at yet
    });
    waker_.notify();
    std::optional<std::optional<std::uint64_t>> answer;
    while (!(answer = shared_.with([](Shared& shared) { return std::exchange(shared.resumed, std::nullopt); }))) {
      std::this_thread::yield();
    }
    if (!*answer) {
      return fail(ErrorCode::kInvalid, "the client's numbers are wrong");
    }
    reply.received = **answer;
  }
  shared_.lock()->waiting = std::move(server);
  waker_.notify();
  return net::Connection{std::move(client), reply};
}

void FakeServer::main() {
  while (!stop_) {
    if (cut_) {
      if (transport_) {
        transport_->shutdown();
        transport_.reset();
      }
      cut_ = false;
    }
    auto [waiting, appends] =
        shared_.with([](Shared& shared) { return std::pair(std::move(shared.waiting), std::exchange(shared.appends, {})); });
    if (const auto received = shared_.with([](Shared& shared) { return std::exchange(shared.resume, std::nullopt); })) {
      resume(*received);
    }
    if (waiting) {
      transport_ = std::move(waiting);
    }
    for (const auto& append : appends) {
      append(sender_);
    }
    if (!transport_ || silent) {
      (void)waker_.wait(std::chrono::milliseconds(5));
      continue;
    }
    serve();
  }
  if (transport_) {
    transport_->shutdown();
  }
}

void FakeServer::resume(std::uint64_t client_received) {
  if (transport_) {
    transport_->shutdown();
    transport_.reset();
  }
  std::optional<std::uint64_t> received;
  if (sender_.on_resumed(client_received)) {
    receiver_.on_resumed();
    received = receiver_.received_sequence().load();
  }
  shared_.lock()->resumed = received;
}

void FakeServer::serve() {
  const auto got = receiver_.poll(*transport_, *this);
  take_chunks();
  settle();
  if (got && *got == 0) {
    sender_.append_acknowledgement();
  }
  const auto flushed = sender_.flush(*transport_);
  if (!got || !flushed) {
    if (!got && got.error().code == ErrorCode::kInvalid) {
      sender_.append(SessionFailed{got.error().message});
      (void)sender_.flush(*transport_);
    }
    transport_.reset();
    return;
  }
  if (*got == 0) {
    const auto interest = *flushed ? net::Interest::kReadable : net::Interest::kReadable | net::Interest::kWritable;
    (void)transport_->wait(interest, std::chrono::milliseconds(20), &waker_);
  }
}

void FakeServer::take_chunks() {
  for (FakeStreams::Chunk& chunk : streams_.take()) {
    chunks_.push_back(std::move(chunk));
  }
  std::erase_if(chunks_, [this](const FakeStreams::Chunk& chunk) {
    if (!incoming_.contains(chunk.header.transfer)) {
      return false;
    }
    const auto into = bulk_destination(chunk.header, chunk.bytes.size());
    std::memcpy(into->data(), chunk.bytes.data(), chunk.bytes.size());
    (void)on_bulk(chunk.header, chunk.bytes.size());
    chunk.stream->chunk_used();
    return true;
  });
}

// --- Commands -----------------------------------------------------------------------------------------------------------------------

void FakeServer::enqueue(CommandHeader header, std::function<std::int32_t(std::int32_t)> run, TransferId needs) {
  if (header.event) {
    events_[header.event] = kOpen;
    ++events_known;
  }
  commands_.push_back({std::move(header), std::move(run), needs});
  commands_pending = commands_.size();
}

bool FakeServer::is_ready(const Command& command, std::int32_t& status) const {
  for (const EventId event : command.header.wait_list) {
    const auto known = events_.find(event);
    if (known == events_.end() || known->second == kOpen) {
      return false;
    }
    status = known->second < 0 ? kFailedWaitList : status;
  }
  const auto transfer = incoming_.find(command.needs);
  return !command.needs || (transfer != incoming_.end() && transfer->second.received == transfer->second.size);
}

void FakeServer::settle() {
  for (bool again = true; again;) {
    again = false;
    std::vector<QueueId> held;   // queues whose earlier commands are not complete
    std::vector<QueueId> fenced; // queues with a barrier that is not complete
    bool contents_missing = false;
    for (auto one = commands_.begin(); one != commands_.end(); ++one) {
      const QueueId queue = one->header.queue;
      const auto is_in = [&](const std::vector<QueueId>& list) { return std::find(list.begin(), list.end(), queue) != list.end(); };
      const bool in_order =
          !queues_[queue].out_of_order || one->is_finish || one->barrier || (one->marker && one->header.wait_list.empty());
      std::int32_t status = 0;
      if (contents_missing || is_in(fenced) || (is_in(held) && in_order) || !is_ready(*one, status)) {
        held.push_back(queue);
        contents_missing = contents_missing || !queue; // of a buffer: everything behind it may need them
        if (one->barrier) {
          fenced.push_back(queue);
        }
        continue;
      }
      Command command = std::move(*one);
      commands_.erase(one);
      run(std::move(command), status);
      again = true;
      break;
    }
  }
  commands_pending = commands_.size();
}

void FakeServer::run(Command command, std::int32_t status) {
  status = command.run(status);
  if (command.is_finish) {
    return;
  }
  if (command.header.event) {
    events_[command.header.event] = status;
  } else if (status < 0) {
    hidden = status;
  }
  if (command.header.notify) {
    clock_ns_ += 10;
    std::optional<CompletionTimes> times;
    if (queues_[command.header.queue].profiling) {
      times = CompletionTimes{clock_ns_ + 1, clock_ns_ + 2, clock_ns_ + 3};
    }
    sender_.append(Completions{{Completion{command.header.event, status, times}}});
  }
}

MutableBytes FakeServer::range(BufferId buffer) {
  const auto found = buffers_.find(buffer);
  return found == buffers_.end() ? MutableBytes() : MutableBytes(*found->second.bytes).subspan(found->second.origin, found->second.size);
}

void FakeServer::expect(TransferId transfer, std::uint64_t size) {
  if (transfer) {
    Incoming& incoming = incoming_[transfer];
    incoming.size = size;
    incoming.bytes.resize(size);
  }
}

Status FakeServer::on_message(Opcode opcode, ConstBytes payload) {
  return Dispatcher<ClientMessages, FakeServer>::dispatch(*this, opcode, payload);
}

Result<MutableBytes> FakeServer::bulk_destination(const BulkHeader& chunk, std::size_t size) {
  const auto found = incoming_.find(chunk.transfer);
  if (found == incoming_.end() || chunk.offset + size > found->second.size) {
    return fail(ErrorCode::kInvalid, "bulk that nobody asked for");
  }
  return MutableBytes(found->second.bytes).subspan(chunk.offset, size);
}

Status FakeServer::on_bulk(const BulkHeader& chunk, std::size_t size) {
  incoming_[chunk.transfer].received += size;
  return {};
}

// --- Messages -------------------------------------------------------------------------------------------------------------------------

Status FakeServer::handle(CreateContext&&) {
  ++objects_alive;
  return {};
}
Status FakeServer::handle(CreateQueue&& message) {
  ++objects_alive;
  queues_[message.queue] = message;
  return {};
}
Status FakeServer::handle(ReleaseObject&&) {
  --objects_alive;
  return {};
}
Status FakeServer::handle(ReleaseEvents&& message) {
  for (const EventId event : message.events) {
    if (events_.find(event) == events_.end()) {
      return fail(ErrorCode::kInvalid, "an event is released that is not there");
    }
    --events_known;
    // Its status is kept for commands that named it before.
  }
  return {};
}
Status FakeServer::handle(CreateUserEvent&& message) {
  events_[message.event] = kOpen;
  ++events_known;
  return {};
}
Status FakeServer::handle(SetUserEventStatus&& message) {
  events_[message.event] = message.status;
  return {};
}

Status FakeServer::handle(CreateBuffer&& message) {
  ++objects_alive;
  auto bytes = std::make_shared<ByteVector>(message.size_bytes);
  std::copy(message.data.begin(), message.data.end(), bytes->begin());
  buffers_[message.buffer] = {bytes, 0, message.size_bytes};
  if (message.transfer) {
    expect(message.transfer, message.size_bytes);
    // Commands of a queue that does not exist: first come, first served.
    enqueue(
        {},
        [this, bytes, transfer = message.transfer](std::int32_t) {
          *bytes = incoming_[transfer].bytes;
          return 0;
        },
        message.transfer);
  }
  return {};
}
Status FakeServer::handle(CreateSubBuffer&& message) {
  ++objects_alive;
  const Buffer& parent = buffers_[message.parent];
  buffers_[message.buffer] = {parent.bytes, parent.origin + message.origin, message.size_bytes};
  return {};
}

Status FakeServer::handle(BuildProgram&& message) {
  ++objects_alive;
  BuildDone done{.request = message.request};
  done.binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  done.info = program_info();
  sender_.append(done);
  return {};
}
Status FakeServer::handle(GetProgramBinary&& message) {
  sender_.append(ProgramBinary{message.request, 0, {}});
  return {};
}

Status FakeServer::handle(EnqueueKernel&& message) {
  const bool bumps = message.kernel_index == 1;
  const BufferId buffer = bumps ? std::get<BufferArgument>(message.arguments[0]).buffer : BufferId{};
  std::uint32_t amount = 0;
  if (bumps) {
    std::memcpy(&amount, std::get<ValueArgument>(message.arguments[1]).bytes.data(), 4);
  }
  enqueue(message.command, [this, buffer, amount](std::int32_t status) {
    status = status == 0 ? fail_kernels.load() : status;
    if (status == 0) {
      ++kernels_run;
      MutableBytes bytes = range(buffer);
      for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, &bytes[i], 4);
        word += amount;
        std::memcpy(&bytes[i], &word, 4);
      }
    }
    return status;
  });
  return {};
}

Status FakeServer::handle(EnqueueRead&& message) {
  enqueue(message.command, [this, message](std::int32_t status) {
    status = status == 0 ? fail_reads.load() : status;
    ReadResult result{.transfer = message.transfer, .status = status, .queue_status = hidden.exchange(0)};
    if (status == 0) {
      auto bytes = std::make_shared<ByteVector>(pick(range(message.buffer), message.rect));
      if (bytes->size() > kMaxInlineBytes) {
        if (streams_.are_connected()) {
          streams_.send_and_wait(message.transfer, *bytes, stop_);
        } else {
          sender_.append_bulk(message.transfer, 0, *bytes, bytes);
        }
      } else {
        result.data = *bytes;
      }
      sender_.append(result);
    } else {
      sender_.append(result);
    }
    return status;
  });
  return {};
}

Status FakeServer::handle(EnqueueWrite&& message) {
  const auto size = size_bytes(message.rect);
  expect(message.transfer, *size);
  auto inline_bytes = std::make_shared<ByteVector>(message.data.begin(), message.data.end());
  enqueue(
      message.command,
      [this, message, inline_bytes](std::int32_t status) {
        if (status == 0) {
          put(range(message.buffer), message.rect, message.transfer ? incoming_[message.transfer].bytes : *inline_bytes);
        }
        incoming_.erase(message.transfer);
        return status;
      },
      message.transfer);
  return {};
}

Status FakeServer::handle(EnqueueCopy&& message) {
  enqueue(message.command, [this, message](std::int32_t status) {
    if (status == 0) {
      put(range(message.destination), message.destination_rect, pick(range(message.source), message.source_rect));
    }
    return status;
  });
  return {};
}

Status FakeServer::handle(EnqueueFill&& message) {
  const ByteVector pattern(message.pattern.begin(), message.pattern.end());
  enqueue(message.command, [this, message, pattern](std::int32_t status) {
    const MutableBytes bytes = range(message.buffer).subspan(message.offset, message.size_bytes);
    for (std::size_t i = 0; status == 0 && i < bytes.size(); ++i) {
      bytes[i] = pattern[i % pattern.size()];
    }
    return status;
  });
  return {};
}

Status FakeServer::handle(EnqueueMarker&& message) {
  enqueue(message.command, [](std::int32_t status) { return status; });
  commands_.back().marker = true;
  commands_.back().barrier = message.barrier;
  return {};
}

Status FakeServer::handle(Finish&& message) {
  enqueue({.queue = message.queue}, [this, request = message.request](std::int32_t) {
    sender_.append(Finished{request, hidden.exchange(0)});
    return 0;
  });
  commands_.back().is_finish = true;
  return {};
}

// --- Putting it in place --------------------------------------------------------------------------------------------------------------

std::vector<FakeServer*> start_servers(std::vector<FakeServer::Options> options, std::int64_t resume_seconds) {
  std::vector<FakeServer*> servers;
  Config config;
  for (std::size_t i = 0; i < options.size(); ++i) {
    servers.push_back(new FakeServer(std::move(options[i])));
    config.servers += "fake" + std::to_string(i) + " ";
  }
  config.resume_seconds = resume_seconds;
  config.connect_timeout_ms = 10'000; // a busy machine is no silent server
  driver::Runtime::instance().reset_for_tests(config, [servers](const net::ServerAddress& address, const Config&) {
    return servers.at(static_cast<std::size_t>(address.host.back() - '0'))->connector();
  });
  return servers;
}

FakeServer& start_server(FakeServer::Options options) {
  std::vector<FakeServer::Options> all;
  all.push_back(std::move(options));
  return *start_servers(std::move(all)).front();
}

} // namespace farcl::test
