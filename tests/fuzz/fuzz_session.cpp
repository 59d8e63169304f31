// Sequences of messages against a session's handlers with a fake device. The input is a program: each step makes a message
// from its fields (ids are few, so that they meet), a chunk of bulk, a completion of the device, the end of a build, or an
// acknowledgement. Messages go through the codec; what the session would send goes to a loopback transport and is read there.
#include "daemon/device/fake_device.hpp"
#include "daemon/handlers/handlers.hpp"
#include "farcl/net/loopback.hpp"
#include "farcl/protocol/print.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace farcl;
using namespace farcl::daemon;

constexpr std::uint64_t kIds = 12; ///< 0 to 11, of each kind
constexpr std::size_t kMaxSteps = 400;
constexpr std::size_t kMaxElements = 6;
constexpr std::uint64_t kMemoryBytes = 4u << 20;

/// Takes values from the input; zeros when it has ended.
class Input {
public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  [[nodiscard]] bool ended() const { return at_ == end_; }
  std::uint8_t byte() { return ended() ? 0 : *at_++; }
  /// Mostly small; sometimes a power of two, one less, or anything.
  std::uint64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 160) {
      return kind;
    }
    if (kind < 200) {
      return std::uint64_t{1} << (byte() % 64);
    }
    if (kind < 230) {
      return (std::uint64_t{1} << (byte() % 64)) - 1;
    }
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
      value = value << 8 | byte();
    }
    return value;
  }
  ConstBytes bytes(std::size_t size) {
    static const ByteVector zeros(1u << 16, std::byte{0});
    const std::size_t left = static_cast<std::size_t>(end_ - at_);
    if (size > left) {
      return ConstBytes(zeros).first(std::min(size, zeros.size()));
    }
    const auto* start = reinterpret_cast<const std::byte*>(at_);
    at_ += size;
    return {start, size};
  }

private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

/// Mostly ids that name something: an unknown queue ends a session at once.
template <class Id>
std::uint64_t id(std::uint8_t byte) {
  if constexpr (std::same_as<Id, protocol::EventId>) {
    return byte % 96;
  } else if constexpr (std::same_as<Id, protocol::QueueId>) {
    return byte < 240 ? 1 + byte % 2 : byte % kIds;
  } else if constexpr (std::same_as<Id, protocol::TransferId>) {
    return byte % kIds;
  } else {
    return byte < 192 ? 1 : byte % kIds;
  }
}

template <class T>
void fill(T& value, Input& in);

template <std::size_t I, class Variant>
void fill_alternative(Variant& value, std::size_t index, Input& in) {
  if constexpr (I < std::variant_size_v<Variant>) {
    if (index == I) {
      fill(value.template emplace<I>(), in);
    } else {
      fill_alternative<I + 1>(value, index, in);
    }
  }
}

template <class T>
void fill(T& value, Input& in) {
  if constexpr (std::same_as<T, bool>) {
    value = in.byte() % 2 != 0;
  } else if constexpr (farcl::detail::IsStrongId<T>::value) {
    value.value = id<T>(in.byte());
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(in.byte() % 8);
    value = is_known(value) ? value : T{};
  } else if constexpr (PlainScalar<T>) {
    value = static_cast<T>(in.number());
  } else if constexpr (std::same_as<T, ConstBytes>) {
    value = in.bytes(in.byte() % 3 == 0 ? in.number() % 5000 : in.byte() % 9);
  } else if constexpr (std::same_as<T, std::string>) {
    const auto bytes = in.bytes(in.byte() % 20);
    value.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else if constexpr (farcl::detail::IsVector<T>::value) {
    for (std::size_t count = in.byte() % kMaxElements; count > 0; --count) {
      fill(value.emplace_back(), in);
    }
  } else if constexpr (farcl::detail::IsArray<T>::value) {
    for (auto& element : value) {
      fill(element, in);
    }
  } else if constexpr (farcl::detail::IsVariant<T>::value) {
    fill_alternative<0>(value, in.byte() % std::variant_size_v<T>, in);
  } else {
    std::apply([&](const auto&... one) { (fill(value.*(one.member), in), ...); }, T::fields());
  }
}

struct NullSink final : net::FrameSink {
  Status on_message(protocol::Opcode, ConstBytes) override { return {}; }
  Result<MutableBytes> bulk_destination(const protocol::BulkHeader&, std::size_t size) override {
    bulk.resize(std::max(bulk.size(), size));
    return MutableBytes(bulk.data(), size);
  }
  Status on_bulk(const protocol::BulkHeader&, std::size_t) override { return {}; }
  Status on_acknowledged(std::uint64_t) override { return {}; }
  void on_ping(std::uint64_t) override {}
  void on_pong(std::uint64_t) override {}
  ByteVector bulk;
};

class Machine final : CompletionSink {
public:
  Machine() {
    SessionParts parts;
    parts.limits.memory_bytes = kMemoryBytes;
    parts.limits.commands_in_flight = 64;
    parts.limits.objects = 128;
    parts.devices = {&device_, &other_device_};
    state_ = std::make_unique<SessionState>(std::move(parts), sender_, static_cast<CompletionSink&>(*this), BulkStreams::Hooks{},
                                            [this](BuildArrival arrival) { built_.push_back(std::move(arrival)); });
    handlers_ = std::make_unique<Handlers>(*state_);
    auto ends = net::make_loopback();
    mine_ = std::move(ends.first);
    theirs_ = std::move(ends.second);
  }

  void run(Input& in) {
    set_up();
    for (std::size_t step = 0; step < kMaxSteps && !in.ended() && !over_; ++step) {
      take_step(in);
      settle();
    }
  }

private:
  void complete(Token token, const DeviceResult& result) noexcept override { done_.emplace_back(token, result); }
  bool print(std::string) noexcept override { return true; }

  template <class Message>
  void send(const Message& message) {
    const ByteVector payload = encode(message);
    over_ = !handlers_->dispatch(Message::kOpcode, payload) || state_->goodbye;
  }
  /// What most programs begin with; the input may make more.
  void set_up() {
    send(protocol::CreateContext{{1}, {0, 1}});
    send(protocol::CreateQueue{{1}, {1}, 0, false, false});
    send(protocol::CreateQueue{{2}, {1}, 1, true, true});
    send(protocol::CreateBuffer{{1}, {1}, 0, 100'000, {}, {}});
    send(protocol::BuildProgram{{1}, {1}, {1}, {0}, protocol::BuildStage::kBuild, {protocol::SourceInput{}}, {}, {}});
    settle();
  }
  void take_step(Input& in) {
    switch (const std::uint8_t what = in.byte(); what % 32) {
    case 0: device_.set_deferred(what >= 128); break;
    case 1:
    case 2: device_.complete_waiting(in.byte() % 4, in.byte() % 4 == 0 ? CL_OUT_OF_RESOURCES : CL_COMPLETE); break;
    case 3: builder_.finish_build(); break;
    case 4:
    case 5: bulk(in); break;
    case 6: device_.fail_allocations(what >= 192); break;
    default: message(what % 32 - 7, in); break;
    }
  }
  void message(std::size_t index, Input& in) {
    std::size_t at = 0;
    protocol::for_each_message(protocol::ClientMessages(), [&]<class Message>() {
      constexpr bool kEnds = std::same_as<Message, protocol::Goodbye>;
      if (at++ == index && !kEnds) {
        Message made;
        fill(made, in);
        send(made);
      }
    });
  }
  void bulk(Input& in) {
    protocol::BulkHeader chunk{{in.byte() % kIds}, in.byte() % 2 == 0 ? offsets_[in.byte() % kIds] : in.number()};
    const std::size_t size = 1 + in.number() % (64u << 10);
    auto destination = state_->transfers.destination(chunk, size);
    if (!destination) {
      over_ = in.byte() % 8 == 0; // the session would end; going on finds more
      return;
    }
    if (destination->size() != size) {
      std::abort();
    }
    std::memset(destination->data(), 0x77, size);
    offsets_[chunk.transfer.value] = chunk.offset + size;
    over_ = !state_->transfers.arrived(chunk, size);
  }
  /// What a turn of the session's loop does.
  void settle() {
    for (int round = 0; round < 3 && !over_; ++round) {
      auto done = std::move(done_);
      done_.clear();
      for (auto& [token, result] : done) {
        state_->executor.on_device_result(token, result);
      }
      auto built = std::move(built_);
      built_.clear();
      for (auto& arrival : built) {
        handlers_->on_built(std::move(arrival));
      }
      state_->streams.pump(mine_.get());
      state_->scheduler.start_ready();
      state_->outbox.append_completions();
      if (!sender_.flush(*mine_) || !client_.poll(*theirs_, sink_) || !sender_.on_acknowledged(client_.received_sequence().load())) {
        std::fprintf(stderr, "fuzz_session: the session's own frames are wrong\n");
        std::abort();
      }
      state_->streams.on_acknowledged();
    }
    if (state_->memory.used_bytes() > kMemoryBytes || state_->scheduler.commands_in_flight() > 2 * 64 + 16) {
      std::fprintf(stderr, "fuzz_session: a limit does not hold\n");
      std::abort();
    }
  }

  FakeBuilder builder_;
  FakeDevice device_{builder_};
  FakeDevice other_device_{builder_};
  net::TransportPtr mine_;
  net::TransportPtr theirs_;
  net::FrameReceiver receiver_; ///< only for what it acknowledges
  net::FrameSender sender_{receiver_.received_sequence()};
  net::FrameReceiver client_;
  NullSink sink_;
  std::vector<std::pair<Token, DeviceResult>> done_;
  std::vector<BuildArrival> built_;
  std::uint64_t offsets_[kIds] = {};
  bool over_ = false;
  std::unique_ptr<SessionState> state_;
  std::unique_ptr<Handlers> handlers_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  Machine().run(in);
  return 0;
}
