// The service as a process: cache, several requests at once, broken clients, its own end.

#include "kernel_runner.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sys/socket.h>
#include <thread>

namespace farcl::kernel_compiler::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr const char* kSource = "kernel void k(global int* a) { a[get_global_id(0)] += ADD; }";

CompileRequest request_of(std::string source, std::string options = "") {
  CompileRequest request;
  request.source = std::move(source);
  request.options = std::move(options);
  return request;
}

/// A program that takes its time, some hundreds of milliseconds: many functions, and the kernel "k" of kSource.
std::string slow_source() {
  std::string source;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "other" + std::to_string(i);
    source += "kernel void " + name + "(global float* a) { for (int i = 0; i < 9; ++i) a[i] = sin(a[i]) + pow(a[i + 1], " +
              std::to_string(i) + ".5f); }\n";
  }
  return source + kSource;
}

int run_one(UniqueFd object) {
  auto loaded = LoadedProgram::load(std::move(object));
  if (!loaded || loaded->find("k") == nullptr) {
    return -1;
  }
  int value = 100;
  void* pointer = &value;
  void* arguments[] = {&pointer};
  const FarclLaunch launch{1, 0, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, nullptr, nullptr};
  const FarclGroup group{{0, 0, 0}, {1, 1, 1}, nullptr, nullptr};
  loaded->find("k")(&launch, &group, arguments);
  return value;
}

TEST(Service, AnswersAKnownProgramFromTheCache) {
  ServiceProcess service;
  CompileConnection connection = service.connect();
  auto first = connection.compile(request_of(kSource, "-DADD=1"));
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->data.from_cache);
  CompileConnection other = service.connect();
  const auto start = Clock::now();
  auto second = other.compile(request_of(kSource, "-DADD=1"));
  const auto took = Clock::now() - start;
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->data.from_cache);
  EXPECT_EQ(second->data.info, first->data.info);
  EXPECT_EQ(second->data.binary, first->data.binary);
  EXPECT_EQ(run_one(std::move(second->shared_object)), 101);
  EXPECT_LT(took, 100ms);
  auto changed = connection.compile(request_of(kSource, "-DADD=2"));
  ASSERT_TRUE(changed);
  EXPECT_FALSE(changed->data.from_cache);
  EXPECT_EQ(run_one(std::move(changed->shared_object)), 102);
}

CompileRequest hash_of(const CompileRequest& request) {
  ContentHasher hasher;
  add_program(hasher, static_cast<std::uint8_t>(request.stage), request.source, request.headers, request.options);
  CompileRequest by_hash;
  by_hash.hash = hasher.finish();
  return by_hash;
}

TEST(Service, FindsByHashWhatItHasBuiltItself) {
  ServiceProcess service;
  CompileConnection connection = service.connect();
  CompileRequest request = request_of(kSource, "-DADD=1 -I inc");
  request.headers = {{"inc/unused.h", "text"}};
  auto unknown = connection.compile(hash_of(request));
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->data.status, CompileStatus::kSourceWanted);
  EXPECT_FALSE(unknown->data.has_shared_object);
  auto first = connection.compile(request);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->data.status, CompileStatus::kOk) << first->data.log;
  auto known = service.connect().compile(hash_of(request));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->data.status, CompileStatus::kOk);
  EXPECT_TRUE(known->data.from_cache);
  EXPECT_EQ(known->data.binary, first->data.binary);
  EXPECT_EQ(run_one(std::move(known->shared_object)), 101);
}

TEST(Service, AHashThatComesWithAnotherSourceNamesNothing) {
  ServiceProcess service;
  CompileConnection connection = service.connect();
  CompileRequest lie = request_of(kSource, "-DADD=666");
  lie.hash = hash_of(request_of(kSource, "-DADD=1")).hash; // "store mine under the name of yours"
  auto reply = connection.compile(lie);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->data.status, CompileStatus::kSourceWanted);
  auto honest = connection.compile(request_of(kSource, "-DADD=1"));
  ASSERT_TRUE(honest);
  EXPECT_FALSE(honest->data.from_cache);
  EXPECT_EQ(run_one(std::move(honest->shared_object)), 101);
}

TEST(Service, BuildsOnceWhatManyAskForAtOnce) {
  ServiceProcess service;
  constexpr std::size_t kClients = 8;
  // Slow enough that all are there before it is done.
  const CompileRequest request = request_of(slow_source(), "-DADD=1");
  std::vector<CompileConnection> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(service.connect());
    ASSERT_TRUE(clients.back().send(i % 2 == 0 ? request : hash_of(request)));
    for (int k = 0; k < 500 && service.count_builds() == 0; ++k) { // by hash it can only be asked for once it is there
      std::this_thread::sleep_for(2ms);
    }
  }
  int most_builds = 0;
  std::thread watch([&] {
    for (int i = 0; i < 20; ++i) {
      most_builds = std::max(most_builds, service.count_builds());
      std::this_thread::sleep_for(10ms);
    }
  });
  { // who leaves does not take the others' build along
    const CompileConnection gone = std::move(clients[0]);
    std::this_thread::sleep_for(50ms);
  }
  for (std::size_t i = 1; i < kClients; ++i) {
    auto reply = clients[i].receive(60s);
    ASSERT_TRUE(reply && reply->has_value());
    EXPECT_EQ((*reply)->data.status, CompileStatus::kOk) << (*reply)->data.log;
    EXPECT_FALSE((*reply)->data.from_cache);
    EXPECT_EQ(run_one(std::move((*reply)->shared_object)), 101);
  }
  watch.join();
  EXPECT_EQ(most_builds, 1);
}

TEST(Service, RebuildsADamagedEntry) {
  ServiceProcess service;
  CompileConnection connection = service.connect();
  ASSERT_TRUE(connection.compile(request_of(kSource, "-DADD=1")));
  namespace fs = std::filesystem;
  std::size_t entries = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(service.cache_folder())) {
    ++entries;
    const auto size = static_cast<std::streamoff>(entry.file_size());
    for (const std::streamoff at : {size / 3, size / 2, size - 9}) {
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(at);
      const char old = static_cast<char>(file.get());
      file.seekp(at);
      file.put(static_cast<char>(old ^ 0x40));
      file.close();
      auto reply = connection.compile(request_of(kSource, "-DADD=1"));
      ASSERT_TRUE(reply);
      EXPECT_FALSE(reply->data.from_cache);
      EXPECT_EQ(run_one(std::move(reply->shared_object)), 101);
    }
    fs::resize_file(entry.path(), 10);
    auto cut = connection.compile(request_of(kSource, "-DADD=1"));
    ASSERT_TRUE(cut);
    EXPECT_FALSE(cut->data.from_cache);
    auto good = connection.compile(request_of(kSource, "-DADD=1"));
    ASSERT_TRUE(good);
    EXPECT_TRUE(good->data.from_cache);
    break;
  }
  EXPECT_EQ(entries, 1U);
}

TEST(Service, KeepsTheCacheWithinItsBound) {
  ServiceProcess service({"--cache-mib", "1"});
  CompileConnection connection = service.connect();
  // Each entry carries a table of 100 KiB.
  for (int i = 0; i < 20; ++i) {
    const std::string source = "constant int t[25600] = {" + std::to_string(i + 1) + "}; kernel void k(global int* a) { *a = t[*a]; }";
    auto reply = connection.compile(request_of(source));
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->data.status, CompileStatus::kOk) << reply->data.log;
  }
  std::uint64_t total = 0, count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(service.cache_folder())) {
    total += entry.file_size();
    ++count;
  }
  EXPECT_LE(total, 1U << 20);
  EXPECT_GE(count, 3U);
  auto newest = connection.compile(request_of("constant int t[25600] = {20}; kernel void k(global int* a) { *a = t[*a]; }"));
  ASSERT_TRUE(newest);
  EXPECT_TRUE(newest->data.from_cache);
}

TEST(Service, WorksOnManyRequestsOfOneConnection) {
  CompileConnection connection = shared_service().connect();
  std::map<std::uint64_t, int> expected;
  for (int i = 0; i < 12; ++i) {
    auto id = connection.send(request_of(kSource, "-DADD=" + std::to_string(i * 1000 + 7)));
    ASSERT_TRUE(id);
    expected[*id] = 107 + i * 1000;
  }
  while (!expected.empty()) {
    auto reply = connection.receive(60s);
    ASSERT_TRUE(reply && reply->has_value());
    ASSERT_EQ(expected.count((*reply)->request_id), 1U);
    EXPECT_EQ(run_one(std::move((*reply)->shared_object)), expected[(*reply)->request_id]);
    expected.erase((*reply)->request_id);
  }
}

TEST(Service, GivesEveryProgramItsOwnCode) {
  // dlopen must not take a reused descriptor number for the same library.
  for (int i = 0; i < 20; ++i) {
    CompileReply reply = build(kSource, "-DADD=" + std::to_string(i));
    EXPECT_EQ(run_one(std::move(reply.shared_object)), 100 + i);
  }
}

TEST(Service, ReportsBadOptionsByStage) {
  CompileConnection connection = shared_service().connect();
  for (const char* options : {"-unknown", "-cl-std=CL9.9", "-D", "-Dx=\"open", "-fplugin=/tmp/x.so", "-include /etc/passwd", "-o /tmp/x"}) {
    CompileRequest request = request_of(kSource, options);
    auto reply = connection.compile(request);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->data.status, CompileStatus::kInvalidBuildOptions) << options;
    EXPECT_FALSE(reply->data.log.empty());
    request.stage = Stage::kCompile;
    reply = connection.compile(request);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->data.status, CompileStatus::kInvalidCompilerOptions) << options;
  }
  CompileRequest link;
  link.stage = Stage::kLink;
  link.options = "-DX";
  auto reply = connection.compile(link);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->data.status, CompileStatus::kInvalidLinkerOptions);
}

TEST(Service, TakesAllOptionsOfTheSpecification) {
  const std::string options = "-D ONE -DTWO=2 -D THREE=3 -I some/where -Ielse -cl-single-precision-constant -cl-denorms-are-zero "
                              "-cl-fp32-correctly-rounded-divide-sqrt -cl-strict-aliasing -cl-mad-enable -cl-no-signed-zeros "
                              "-cl-unsafe-math-optimizations -cl-finite-math-only -cl-fast-relaxed-math -w -Werror -cl-kernel-arg-info "
                              "-cl-uniform-work-group-size -g -DSTR=\\\"a\\ b\\\"";
  for (const char* standard : {"", "-cl-std=CL1.0", "-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL3.0"}) {
    const CompileReply reply =
        build("kernel void k(global int* a) { constant char* s = STR; *a = ONE + TWO + THREE + s[2]; }", options + " " + standard);
    EXPECT_EQ(reply.data.status, CompileStatus::kOk) << standard << reply.data.log;
  }
}

TEST(Service, CompilesAndLinksSeparately) {
  CompileConnection connection = shared_service().connect();
  const auto stage = [&](Stage which, const std::string& source, std::vector<Binary> inputs, const std::string& options = "") {
    CompileRequest request;
    request.stage = which;
    request.source = source;
    request.inputs = std::move(inputs);
    request.options = options;
    request.headers = {{"inc/add.h", "#include \"deep/value.h\"\nint add(int x);\n"}, {"inc/deep/value.h", "#define VALUE 5\n"}};
    auto reply = connection.compile(request);
    EXPECT_TRUE(reply);
    return std::move(*reply);
  };
  CompileReply helper = stage(Stage::kCompile, "#include <add.h>\nint add(int x) { return x + VALUE; }", {}, "-I inc");
  ASSERT_EQ(helper.data.status, CompileStatus::kOk) << helper.data.log;
  CompileReply kernel = stage(Stage::kCompile, "#include \"inc/add.h\"\nkernel void k(global int* a) { *a = add(*a); }", {});
  ASSERT_EQ(kernel.data.status, CompileStatus::kOk) << kernel.data.log;
  EXPECT_FALSE(kernel.data.has_shared_object);
  CompileReply library = stage(Stage::kLink, "", {{helper.data.binary}}, "-create-library");
  ASSERT_EQ(library.data.status, CompileStatus::kOk) << library.data.log;
  CompileReply linked = stage(Stage::kLink, "", {{kernel.data.binary}, {library.data.binary}});
  ASSERT_EQ(linked.data.status, CompileStatus::kOk) << linked.data.log;
  ASSERT_EQ(linked.data.info.kernels.size(), 1U);
  EXPECT_EQ(run_one(std::move(linked.shared_object)), 105);
  CompileReply rebuilt = stage(Stage::kBuild, "", {{linked.data.binary}});
  ASSERT_EQ(rebuilt.data.status, CompileStatus::kOk) << rebuilt.data.log;
  EXPECT_EQ(run_one(std::move(rebuilt.shared_object)), 105);

  EXPECT_THAT(stage(Stage::kLink, "", {{kernel.data.binary}}).data.log, HasSubstr("undefined function"));
  EXPECT_EQ(stage(Stage::kLink, "", {{helper.data.binary}, {helper.data.binary}}).data.status, CompileStatus::kBuildFailure);
  ByteVector damaged = kernel.data.binary;
  damaged[damaged.size() / 2] ^= std::byte{1};
  EXPECT_EQ(stage(Stage::kLink, "", {{damaged}}).data.status, CompileStatus::kInvalidBinary);
  EXPECT_EQ(stage(Stage::kBuild, "", {{ByteVector(100, std::byte{7})}}).data.status, CompileStatus::kInvalidBinary);
}

TEST(Service, ClosesConnectionsThatBreakTheRules) {
  ServiceProcess service;
  CompileConnection good = service.connect();
  for (const std::string& bytes : {std::string(24, 'x'), std::string("FCK1\0\0\0\0", 8) + std::string(8, 1) + std::string(8, '\xff'),
                                   std::string("FCK1\0\0\0\0", 8) + std::string(8, 1) + std::string("\4\0\0\0\0\0\0\0abcd", 12)}) {
    const UniqueFd bad = service.connect_raw();
    ASSERT_EQ(::send(bad.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    timeval limit{5, 0};
    ::setsockopt(bad.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char answer = 0;
    EXPECT_EQ(::recv(bad.get(), &answer, 1, 0), 0) << "the connection must be closed";
  }
  auto reply = good.compile(request_of(kSource, "-DADD=1"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->data.status, CompileStatus::kOk);
}

TEST(Service, EndsWithItsControlSocketAndTakesBuildsAlong) {
  ServiceProcess service({"--build-seconds", "30"});
  CompileConnection connection = service.connect();
  std::string endless = "#define A0 a+=a*3;\n";
  for (int i = 1; i < 40; ++i) {
    endless += "#define A" + std::to_string(i) + " A" + std::to_string(i - 1) + " A" + std::to_string(i - 1) + "\n";
  }
  ASSERT_TRUE(connection.send(request_of(endless + "kernel void k(global int* p) { int a = *p; A39 *p = a; }")));
  for (int i = 0; i < 500 && service.count_builds() == 0; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(service.count_builds(), 1);
  // A client that leaves takes its builds along.
  {
    const CompileConnection gone = std::move(connection);
  }
  for (int i = 0; i < 500 && service.count_builds() != 0; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(service.count_builds(), 0);
  EXPECT_TRUE(service.stop());
}

} // namespace
} // namespace farcl::kernel_compiler::test
