// The session's handlers, one by one, over a loopback transport with a fake device.
#include "session_fixture.hpp"

namespace farcl::daemon::test {
namespace {

class SessionTest : public SessionFixture {};

TEST_F(SessionTest, ServerInfoIsTheFirstMessage) {
  ASSERT_TRUE(client->connect());
  ASSERT_TRUE(client->until([&] { return client->info.has_value(); }));
  EXPECT_EQ(client->reply->session[0], 7);
  EXPECT_EQ(client->reply->secret[0], 9);
  EXPECT_EQ(client->info->devices.size(), 1u);
  EXPECT_EQ(client->info->devices[0].backend, "fake");
  EXPECT_EQ(client->info->limits.memory_bytes, 64u << 20);
  EXPECT_EQ(client->order.front(), "ServerInfo");
}

TEST_F(SessionTest, GoodbyeEndsTheSession) {
  ASSERT_TRUE(client->connect());
  client->send(p::Goodbye{});
  EXPECT_EQ(wait_for_end().reason, "the client said goodbye");
  EXPECT_FALSE(end.failed);
}

TEST_F(SessionTest, OtherVersionsAreRefused) {
  auto [mine, theirs] = net::make_loopback();
  Attachment attachment;
  attachment.transport = std::move(theirs);
  attachment.version_min = attachment.version_max = p::kVersion + 1;
  session->attach(std::move(attachment));
  EXPECT_FALSE(wait_for_end().failed);
  p::HelloReplyBytes bytes{};
  ASSERT_EQ(*mine->receive(bytes), bytes.size());
  EXPECT_EQ(p::decode_hello_reply(bytes)->status, p::HelloStatus::kBadVersion);
}

TEST_F(SessionTest, BuffersStartAsZerosAndKeepInlineContents) {
  set_up_objects();
  EXPECT_EQ(*client->read(kQueue, kBuffer, 0, 64), ByteVector(64, std::byte{0}));
  const auto contents = pattern(1000);
  client->send(p::CreateBuffer{{50}, kContext, 0, 1000, {}, contents});
  EXPECT_EQ(*client->read(kQueue, {50}, 0, 1000), contents);
}

TEST_F(SessionTest, InitialContentsComeAsBulkAndCommandsWaitForThem) {
  set_up_objects();
  const auto contents = pattern(700'000);
  client->send(p::CreateBuffer{{50}, kContext, 0, contents.size(), {9}, {}});
  client->send(p::EnqueueRead{{kQueue, {}, false, {}}, {50}, p::BufferRect::linear(699'996, 4), {10}});
  client->send_bulk({9}, 0, ConstBytes(contents).first(300'000));
  EXPECT_FALSE(client->until([&] { return client->reads.count(10) != 0; }, 50ms));
  client->send_bulk({9}, 300'000, ConstBytes(contents).subspan(300'000));
  ASSERT_TRUE(client->until([&] { return client->reads.count(10) != 0; }));
  EXPECT_EQ(client->bulk[10], ByteVector(contents.end() - 4, contents.end()));
  EXPECT_EQ(*client->read(kQueue, {50}, 0, contents.size()), contents);
}

TEST_F(SessionTest, WritesAndReadsInlineAndInBulk) {
  set_up_objects();
  const auto small = pattern(4096);
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(8, small.size()), {}, small});
  EXPECT_EQ(*client->read(kQueue, kBuffer, 8, small.size()), small);
  const auto large = pattern(kBufferBytes, 3);
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, large.size()), {11}, {}});
  client->send_bulk({11}, 0, large);
  EXPECT_EQ(*client->read(kQueue, kBuffer, 0, large.size()), large);
}

TEST_F(SessionTest, BulkForAWriteThatWaitsIsStaged) {
  set_up_objects();
  const auto large = pattern(200'000, 5);
  client->send(p::CreateUserEvent{{70}});
  client->send(p::EnqueueWrite{{kQueue, {71}, true, {{70}}}, kBuffer, p::BufferRect::linear(0, large.size()), {12}, {}});
  client->send_bulk({12}, 0, large);
  EXPECT_EQ(*client->read(kOtherQueue, kBuffer, 0, 64), ByteVector(64, std::byte{0})); // not yet
  client->send(p::SetUserEventStatus{{70}, CL_COMPLETE});
  EXPECT_EQ(client->status_of({71}), CL_COMPLETE);
  EXPECT_EQ(*client->read(kQueue, kBuffer, 0, large.size()), large);
}

TEST_F(SessionTest, ReadsOfBoxes) {
  set_up_objects();
  const auto all = pattern(1 << 16, 2);
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, all.size()), {13}, {}});
  client->send_bulk({13}, 0, all);
  const p::BufferRect box{100, 33, 7, 5, 64, 64 * 16};
  client->send(p::EnqueueRead{{kQueue, {}, false, {}}, kBuffer, box, {14}});
  ASSERT_TRUE(client->until([&] { return client->reads.count(14) != 0; }));
  ByteVector expected;
  for (std::size_t z = 0; z < 5; ++z) {
    for (std::size_t y = 0; y < 7; ++y) {
      const auto* row = all.data() + 100 + z * 64 * 16 + y * 64;
      expected.insert(expected.end(), row, row + 33);
    }
  }
  EXPECT_EQ(client->bulk[14], expected);
}

TEST_F(SessionTest, LargeReadsLeaveFromTheBufferUnlessTheyHaveGaps) {
  set_up_objects();
  const auto all = pattern(kBufferBytes, 6);
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, all.size()), {15}, {}});
  client->send_bulk({15}, 0, all);
  EXPECT_EQ(*client->read(kQueue, kBuffer, 0, all.size()), all);
  const auto is_read = [](const std::string& line) { return line.starts_with("read "); };
  auto log = device.log();
  EXPECT_EQ(std::count_if(log.begin(), log.end(), is_read), 0) << "the device was asked to copy";
  const p::BufferRect box{256, 512, 1000, 1, 1024, 1024 * 1000};
  client->send(p::EnqueueRead{{kQueue, {}, false, {}}, kBuffer, box, {16}});
  ASSERT_TRUE(client->until([&] { return client->reads.count(16) != 0; }));
  ByteVector expected;
  for (std::size_t y = 0; y < 1000; ++y) {
    const auto* row = all.data() + 256 + y * 1024;
    expected.insert(expected.end(), row, row + 512);
  }
  EXPECT_EQ(client->bulk[16], expected);
  log = device.log();
  EXPECT_EQ(std::count_if(log.begin(), log.end(), is_read), 2); // 512,000 bytes in chunks
}

// The client acknowledges nothing: what stands behind the read starts nevertheless, and does not change what the read gets.
TEST_F(SessionTest, ACommandBehindALargeReadWaitsForNoAcknowledgement) {
  set_up_objects();
  const auto all = pattern(kBufferBytes, 7);
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, all.size()), {17}, {}});
  client->send_bulk({17}, 0, all);
  ASSERT_EQ(client->finish(kQueue), CL_SUCCESS);
  client->acknowledges = false;
  const auto four = pattern(4, 8);
  client->sender().append(p::EnqueueRead{{kQueue, {}, false, {}}, kBuffer, p::BufferRect::linear(0, all.size()), {18}});
  client->sender().append(p::EnqueueFill{{kQueue, {72}, true, {}}, kBuffer, 0, kBufferBytes, four});
  ASSERT_TRUE(client->flush());
  EXPECT_EQ(client->status_of({72}), CL_COMPLETE);
  ASSERT_EQ(client->reads.count(18), 1u);
  EXPECT_EQ(client->bulk[18], all);
  EXPECT_EQ(*client->read(kQueue, kBuffer, 0, 4), four);
}

TEST_F(SessionTest, WritesAndCopiesOfBoxes) {
  set_up_objects();
  const p::BufferRect box{10, 4, 3, 2, 16, 64};
  const auto packed = pattern(24);
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, kBuffer, box, {}, packed});
  const p::BufferRect target{5000, 4, 3, 2, 4, 12};
  client->send(p::EnqueueCopy{{kQueue, {}, false, {}}, kBuffer, kBuffer, box, target});
  EXPECT_EQ(*client->read(kQueue, kBuffer, 5000, 24), packed);
  EXPECT_EQ((*client->read(kQueue, kBuffer, 14, 1))[0], std::byte{0}); // gaps stay
}

TEST_F(SessionTest, Fills) {
  set_up_objects();
  const auto four = pattern(4, 9);
  client->send(p::EnqueueFill{{kQueue, {}, false, {}}, kBuffer, 4, 100'000, four});
  const auto bytes = *client->read(kQueue, kBuffer, 0, 100'008);
  EXPECT_EQ(bytes[0], std::byte{0});
  EXPECT_EQ(bytes[100'004], std::byte{0});
  for (std::size_t i = 4; i < 100'004; ++i) {
    ASSERT_EQ(bytes[i], four[i % 4]) << i;
  }
}

TEST_F(SessionTest, SubBuffersShareTheirParentsBytes) {
  set_up_objects();
  client->send(p::CreateSubBuffer{{60}, kBuffer, 0, 1024, 512});
  const auto bytes = pattern(512);
  client->send(p::EnqueueWrite{{kQueue, {}, false, {}}, {60}, p::BufferRect::linear(0, 512), {}, bytes});
  client->send(p::ReleaseObject{p::ObjectKind::kBuffer, 60});
  EXPECT_EQ(*client->read(kQueue, kBuffer, 1024, 512), bytes);
}

TEST_F(SessionTest, ArgumentsAreTheValuesAtTheEnqueue) {
  set_up_objects();
  std::int32_t expected = 0;
  for (std::int32_t i = 1; i <= 100; ++i) {
    client->send(add(i, {kQueue, {}, false, {}}));
    expected += i;
  }
  EXPECT_EQ(sum(), expected);
  EXPECT_EQ(device.log().front(), "add 1");
}

TEST_F(SessionTest, CompletionsOnlyWhereSomebodyCanSeeThem) {
  set_up_objects();
  client->send(launch(kEmpty, {kQueue, {80}, false, {}}));
  client->send(launch(kEmpty, {kQueue, {81}, true, {}}));
  client->send(launch(kEmpty, {kOtherQueue, {82}, true, {}}));
  EXPECT_EQ(client->status_of({81}), CL_COMPLETE);
  EXPECT_EQ(client->status_of({82}), CL_COMPLETE);
  EXPECT_EQ(client->completions.size(), 2u);
  EXPECT_FALSE(client->completions[0].times.has_value());
  ASSERT_TRUE(client->completions[1].times.has_value());
  const auto times = *client->completions[1].times;
  EXPECT_NE(times.submitted_ns, 0u);
  EXPECT_LE(times.submitted_ns, times.started_ns);
  EXPECT_LE(times.started_ns, times.ended_ns);
}

TEST_F(SessionTest, CompletionsComeBeforeWhatLetsTheClientConcludeThem) {
  set_up_objects();
  client->send(launch(kEmpty, {kQueue, {81}, true, {}}));
  ASSERT_EQ(client->finish(kQueue), CL_SUCCESS);
  EXPECT_EQ(client->completions.size(), 1u);
}

TEST_F(SessionTest, PrintedTextComesBeforeItsCompletion) {
  set_up_objects();
  device.set_deferred(true);
  client->send(launch(kPrint, {kQueue, {90}, true, {}}));
  ASSERT_TRUE(device_waits_for(1));
  device.complete_waiting();
  EXPECT_EQ(client->status_of({90}), CL_COMPLETE);
  EXPECT_EQ(client->printed, "hello\n");
}

TEST_F(SessionTest, AFailureNobodyCouldSeeIsReportedOnce) {
  set_up_objects();
  client->send(launch(kFail, {kQueue, {}, false, {}}));
  EXPECT_EQ(client->finish(kQueue), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
  client->send(launch(kFail, {kQueue, {}, false, {}}));
  std::int32_t queue_status = 0;
  EXPECT_TRUE(client->read(kQueue, kBuffer, 0, 4, &queue_status).has_value());
  EXPECT_EQ(queue_status, CL_OUT_OF_RESOURCES);
  client->send(launch(kFail, {kQueue, {91}, true, {}})); // this one is seen
  EXPECT_EQ(client->status_of({91}), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
}

TEST_F(SessionTest, UserEventsHoldAndFail) {
  set_up_objects();
  client->send(p::CreateUserEvent{{70}});
  client->send(p::CreateUserEvent{{71}});
  const std::int32_t one = 1;
  client->send(add(one, {kOtherQueue, {72}, true, {{70}}}));
  client->send(add(one, {kOtherQueue, {73}, true, {{71}}}));
  client->send(p::SetUserEventStatus{{71}, -77});
  EXPECT_EQ(client->status_of({73}), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  client->send(p::SetUserEventStatus{{70}, CL_COMPLETE});
  EXPECT_EQ(client->status_of({72}), CL_COMPLETE);
  EXPECT_EQ(sum(), 1);
  client->send(p::ReleaseEvents{{{70}, {71}, {72}, {73}}});
  EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
}

TEST_F(SessionTest, AnAbandonedUserEventFailsItsWaiters) {
  set_up_objects();
  client->send(p::CreateUserEvent{{70}});
  client->send(launch(kEmpty, {kQueue, {72}, true, {{70}}}));
  client->send(p::ReleaseEvents{{{70}}});
  EXPECT_EQ(client->status_of({72}), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_F(SessionTest, FailedBuildsSayWhy) {
  set_up_objects();
  build("#error", {200});
  ASSERT_TRUE(client->until([&] { return client->builds.size() == 2; }));
  EXPECT_EQ(client->builds[1].status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(client->builds[1].log.find("source.cl:1:1"), std::string::npos);
  auto message = launch(kEmpty, {kQueue, {95}, true, {}});
  message.program = {200};
  client->send(message);
  EXPECT_EQ(client->status_of({95}), CL_INVALID_PROGRAM_EXECUTABLE);
}

TEST_F(SessionTest, ABuildDelaysNoCommand) {
  set_up_objects();
  build("later", {201});
  EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
  EXPECT_EQ(client->builds.size(), 1u);
  ASSERT_TRUE(builder.finish_build());
  ASSERT_TRUE(client->until([&] { return client->builds.size() == 2; }));
}

TEST_F(SessionTest, AClientThatIsLeavingIsNotWaitedFor) {
  set_up_objects();
  client->send(p::Leaving{});
  const std::int32_t one = 1; // until its connection closes everything goes on
  client->send(add(one, {kQueue, {++next_id}, true, {}}));
  EXPECT_EQ(client->status_of({next_id}), CL_COMPLETE);
  const auto start = std::chrono::steady_clock::now();
  client->disconnect();
  EXPECT_EQ(wait_for_end().reason, "its program has ended");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 2s); // it would be kept for 5 s
}

TEST_F(SessionTest, AnUnknownHashAsksForTheSource) {
  set_up_objects();
  p::BuildProgram message;
  message.request = {++next_id};
  message.program = kProgram;
  message.context = kContext;
  message.devices = {0};
  message.inputs = {p::HashedInput{}};
  client->send(message);
  ASSERT_TRUE(client->until([&] { return !client->sources_wanted.empty(); }));
  EXPECT_EQ(client->sources_wanted[0].request, message.request);
  EXPECT_EQ(client->builds.size(), 1u);
  const std::int32_t one = 1; // the program is still what it was
  client->send(add(one, {kQueue, {++next_id}, true, {}}));
  EXPECT_EQ(client->status_of({next_id}), CL_COMPLETE);
  message.options = "-DX"; // a hash stands for everything
  client->send(message);
  EXPECT_TRUE(wait_for_end().failed);
}

TEST_F(SessionTest, BinariesGoThereAndBack) {
  set_up_objects();
  client->send(p::GetProgramBinary{{300}, kProgram});
  ASSERT_TRUE(client->until([&] { return client->binary_status.has_value(); }));
  EXPECT_EQ(client->binary_status, CL_SUCCESS);
  EXPECT_EQ(client->binary.size(), client->builds[0].binary_bytes);
  const auto build_binary = [&](ConstBytes bytes, std::uint64_t program) {
    p::BuildProgram message;
    message.request = {++next_id};
    message.program = {program};
    message.context = kContext;
    message.devices = {0};
    message.inputs.push_back(p::BinaryInput{bytes});
    client->send(message);
    const std::size_t before = client->builds.size();
    return client->until([&] { return client->builds.size() > before; }) ? client->builds.back().status : -1000;
  };
  EXPECT_EQ(build_binary(client->binary, 202), CL_SUCCESS);
  ByteVector damaged = client->binary;
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(build_binary(damaged, 203), CL_INVALID_BINARY);
  EXPECT_EQ(build_binary(ConstBytes(damaged).first(10), 204), CL_INVALID_BINARY);
}

TEST_F(SessionTest, CompiledProgramsAreLinked) {
  set_up_objects();
  p::BuildProgram compile;
  compile.request = {++next_id};
  compile.program = {210};
  compile.context = kContext;
  compile.devices = {0};
  compile.stage = p::BuildStage::kCompile;
  const std::string source = "part";
  compile.inputs.push_back(p::SourceInput{bytes_of(source)});
  client->send(compile);
  ASSERT_TRUE(client->until([&] { return client->builds.size() == 2; }));
  EXPECT_EQ(client->builds[1].binary_type, static_cast<std::uint32_t>(CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT));
  p::BuildProgram link = compile;
  link.request = {++next_id};
  link.program = {211};
  link.stage = p::BuildStage::kLink;
  link.inputs = {p::ProgramInput{{210}}};
  client->send(link);
  ASSERT_TRUE(client->until([&] { return client->builds.size() == 3; }));
  EXPECT_EQ(client->builds[2].status, CL_SUCCESS);
  link.program = {212};
  link.inputs = {p::ProgramInput{{999}}};
  client->send(link);
  ASSERT_TRUE(client->until([&] { return client->builds.size() == 4; }));
  EXPECT_EQ(client->builds[3].status, CL_LINK_PROGRAM_FAILURE);
}

TEST_F(SessionTest, ArgumentsAreCheckedAgainstTheKernel) {
  set_up_objects();
  const std::int32_t value = 1;
  const std::int64_t wide = 1;
  const auto status_with = [&](std::vector<p::KernelArgument> arguments, std::uint32_t kernel) {
    auto message = launch(kernel, {kQueue, {++next_id}, true, {}});
    message.arguments = std::move(arguments);
    client->send(message);
    return client->status_of({next_id}).value_or(-1000);
  };
  const p::KernelArgument buffer = p::BufferArgument{kBuffer};
  const p::KernelArgument int32 = p::ValueArgument{std::as_bytes(std::span(&value, 1))};
  const p::KernelArgument int64 = p::ValueArgument{std::as_bytes(std::span(&wide, 1))};
  EXPECT_EQ(status_with({buffer, int32}, kAdd), CL_COMPLETE);
  EXPECT_EQ(status_with({p::BufferArgument{}, int32}, kAdd), CL_COMPLETE);
  EXPECT_EQ(status_with({buffer}, kAdd), CL_INVALID_KERNEL_ARGS);
  EXPECT_EQ(status_with({buffer, int64}, kAdd), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(status_with({int64, int32}, kAdd), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(status_with({p::BufferArgument{{12345}}, int32}, kAdd), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(status_with({p::LocalArgument{64}, int64}, kLocal), CL_COMPLETE);
  EXPECT_EQ(status_with({p::LocalArgument{0}, int64}, kLocal), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(status_with({p::LocalArgument{1u << 20}, int64}, kLocal), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(status_with({p::LocalArgument{UINT64_MAX}, int64}, kLocal), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(status_with({}, 17), CL_INVALID_KERNEL);
}

TEST_F(SessionTest, RangesAreChecked) {
  set_up_objects();
  const auto status_with = [&](auto change) {
    auto message = launch(kEmpty, {kQueue, {++next_id}, true, {}});
    change(message);
    client->send(message);
    return client->status_of({next_id}).value_or(-1000);
  };
  EXPECT_EQ(status_with([](auto& m) { m.work_dim = 4; }), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(status_with([](auto& m) { m.work_dim = 0; }), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(status_with([](auto& m) { m.global_size = {0, 1, 1}; }), CL_COMPLETE);
  EXPECT_EQ(status_with([](auto& m) { m.global_size = {UINT64_MAX, 1, 1}; }), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(status_with([](auto& m) { m.global_size = {1ull << 40, 1ull << 40, 1}, m.work_dim = 2; }), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(status_with([](auto& m) { m.global_size = {1, 2, 1}; }), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(status_with([](auto& m) { m.global_offset[0] = UINT64_MAX; }), CL_INVALID_GLOBAL_OFFSET);
  EXPECT_EQ(status_with([](auto& m) { m.global_size[0] = 512, m.local_size = {512, 1, 1}; }), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(status_with([](auto& m) { m.global_size[0] = 512, m.local_size = {4, 0, 1}; }), CL_INVALID_WORK_GROUP_SIZE);
}

TEST_F(SessionTest, BuffersBeyondTheLimitFailAndSoDoTheirCommands) {
  set_up_objects();
  client->send(p::CreateBuffer{{51}, kContext, 0, 1ull << 40, {}, {}});
  client->send(p::CreateSubBuffer{{52}, {51}, 0, 0, 64});
  client->send(p::EnqueueFill{{kQueue, {53}, true, {}}, {52}, 0, 64, pattern(4)});
  EXPECT_EQ(client->status_of({53}), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  ASSERT_EQ(client->object_failures.size(), 1u);
  EXPECT_EQ(client->object_failures[0].id, 51u);
  EXPECT_NE(client->object_failures[0].sentence.find("does not fit"), std::string::npos);
  // The same with contents that nobody wants any more.
  const auto bytes = pattern(100'000);
  device.fail_allocations(true);
  client->send(p::CreateBuffer{{54}, kContext, 0, bytes.size(), {55}, {}});
  client->send_bulk({55}, 0, bytes);
  client->send(p::EnqueueRead{{kQueue, {}, false, {}}, {54}, p::BufferRect::linear(0, 4), {56}});
  ASSERT_TRUE(client->until([&] { return client->reads.count(56) != 0; }));
  EXPECT_EQ(client->reads[56].status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

TEST_F(SessionTest, MemoryOfReleasedBuffersCanBeUsedAgain) {
  set_up_objects();
  for (std::uint64_t i = 0; i < 20; ++i) {
    client->send(p::CreateBuffer{{1000 + i}, kContext, 0, 40u << 20, {}, {}});
    client->send(p::ReleaseObject{p::ObjectKind::kBuffer, 1000 + i});
  }
  EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
  EXPECT_TRUE(client->object_failures.empty());
}

TEST_F(SessionTest, CommandsKeepWhatTheyUse) {
  set_up_objects();
  device.set_deferred(true);
  const std::int32_t five = 5;
  client->send(add(five, {kQueue, {98}, true, {}}));
  client->send(p::ReleaseObject{p::ObjectKind::kBuffer, kBuffer.value});
  client->send(p::ReleaseObject{p::ObjectKind::kProgram, kProgram.value});
  client->send(p::ReleaseObject{p::ObjectKind::kQueue, kQueue.value});
  client->send(p::ReleaseObject{p::ObjectKind::kContext, kContext.value});
  ASSERT_TRUE(device_waits_for(1));
  device.complete_waiting();
  EXPECT_EQ(client->status_of({98}), CL_COMPLETE);
}

TEST_F(SessionTest, PingsAreAnswered) {
  ASSERT_TRUE(client->connect());
  client->sender().append_ping(5);
  client->flush();
  EXPECT_TRUE(client->until([&] { return client->pongs == 1; }));
}

TEST_F(SessionTest, ASecondQueueGoesOnWhileTheFirstWaits) {
  set_up_objects();
  client->send(p::CreateUserEvent{{70}});
  client->send(launch(kEmpty, {kQueue, {71}, true, {{70}}}));
  EXPECT_EQ(client->finish(kOtherQueue), CL_SUCCESS);
  EXPECT_TRUE(client->completions.empty());
  client->send(p::SetUserEventStatus{{70}, CL_COMPLETE});
  EXPECT_EQ(client->finish(kQueue), CL_SUCCESS);
}

} // namespace
} // namespace farcl::daemon::test
