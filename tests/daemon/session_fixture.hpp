// A session on a thread of its own with a fake device, and a client of it.
#pragma once

#include "daemon/device/fake_device.hpp"
#include "test_client.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace farcl::daemon::test {

inline constexpr p::ContextId kContext{1};
inline constexpr p::QueueId kQueue{2};      ///< in order
inline constexpr p::QueueId kOtherQueue{3}; ///< out of order, with profiling
inline constexpr p::BufferId kBuffer{4};
inline constexpr p::ProgramId kProgram{5};
inline constexpr std::uint64_t kBufferBytes = 1u << 20;

inline constexpr std::uint32_t kEmpty = 0, kAdd = 1, kFail = 2, kLocal = 3, kPrint = 4; ///< the fake's kernels

inline ConstBytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
inline ByteVector pattern(std::size_t size, unsigned seed = 1) {
  ByteVector bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 2654435761u + seed) >> 16);
  }
  return bytes;
}

class SessionFixture : public ::testing::Test {
protected:
  explicit SessionFixture(std::function<void(SessionConfig&)> adjust = {}) {
    SessionConfig config;
    config.parts.limits.memory_bytes = 64u << 20;
    config.parts.limits.resume_seconds = 5;
    config.parts.devices = {&device};
    config.parts.host_name = "test";
    config.parts.version = "0";
    config.id[0] = 7;
    config.secret[0] = 9;
    if (adjust) {
      adjust(config);
    }
    session = std::make_unique<Session>(std::move(config));
    client = std::make_unique<TestClient>(*session);
    thread = std::thread([this] { end = session->run(); });
  }
  ~SessionFixture() override { stop(); }

  void stop() {
    if (thread.joinable()) {
      session->end("");
      thread.join();
    }
  }
  /// Joins a session that should end by itself.
  SessionEnd& wait_for_end() {
    thread.join();
    return end;
  }

  /// Context, both queues, the buffer and the program.
  void set_up_objects() {
    ASSERT_TRUE(client->connect());
    client->send(p::CreateContext{kContext, {0}});
    client->send(p::CreateQueue{kQueue, kContext, 0, false, false});
    client->send(p::CreateQueue{kOtherQueue, kContext, 0, true, true});
    client->send(p::CreateBuffer{kBuffer, kContext, 0, kBufferBytes, {}, {}});
    build("a program");
    ASSERT_TRUE(client->until([&] { return !client->builds.empty(); }));
    ASSERT_EQ(client->builds.back().status, CL_SUCCESS);
  }
  void build(const std::string& source, p::ProgramId program = kProgram) {
    p::BuildProgram message;
    message.request = {++next_id};
    message.program = program;
    message.context = kContext;
    message.devices = {0};
    message.inputs.push_back(p::SourceInput{bytes_of(source)});
    client->send(message);
  }
  p::EnqueueKernel launch(std::uint32_t kernel, p::CommandHeader header) const {
    p::EnqueueKernel message;
    message.command = std::move(header);
    message.program = kProgram;
    message.kernel_index = kernel;
    return message;
  }
  /// kBuffer[0] += value. `value` must live until the message is sent.
  p::EnqueueKernel add(const std::int32_t& value, p::CommandHeader header) const {
    auto message = launch(kAdd, std::move(header));
    message.arguments.push_back(p::BufferArgument{kBuffer});
    message.arguments.push_back(p::ValueArgument{std::as_bytes(std::span(&value, 1))});
    return message;
  }
  std::int32_t sum() {
    auto bytes = client->read(kQueue, kBuffer, 0, 4);
    std::int32_t value = -1;
    if (bytes && bytes->size() == 4) {
      std::memcpy(&value, bytes->data(), 4);
    }
    return value;
  }
  [[nodiscard]] bool device_waits_for(std::size_t count) {
    for (int i = 0; i < 2000 && device.waiting() < count; ++i) {
      std::this_thread::sleep_for(1ms);
    }
    return device.waiting() >= count;
  }

  FakeBuilder builder;
  FakeDevice device{builder};
  std::unique_ptr<Session> session;
  std::unique_ptr<TestClient> client;
  std::thread thread;
  SessionEnd end;
  std::uint64_t next_id = 100;
};

} // namespace farcl::daemon::test
