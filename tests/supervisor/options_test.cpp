#include "daemon/common/options.hpp"
#include "farcl/base/numbers.hpp"

#include <gtest/gtest.h>

namespace farcl::daemon {
namespace {
Result<ParsedOptions> parse(std::vector<const char*> words) {
  words.insert(words.begin(), {"farcld", "--cache", "/nowhere"});
  return parse_options(static_cast<int>(words.size()), words.data());
}
std::string listen_text(std::string_view text) {
  const auto address = parse_listen_address(text);
  return address ? to_text(*address) : "error: " + address.error().message;
}
std::string complaint(const std::vector<const char*>& words) {
  const auto parsed = parse(words);
  return parsed ? "no complaint" : parsed.error().message;
}

TEST(ListenAddressTest, TakesWhatPeopleWrite) {
  EXPECT_EQ(listen_text("127.0.0.1:0"), "127.0.0.1:0");
  EXPECT_EQ(listen_text("127.0.0.1"), "127.0.0.1:32725");
  EXPECT_EQ(listen_text("[::1]:80"), "[::1]:80");
  EXPECT_EQ(listen_text("[::1]"), "[::1]:32725");
  EXPECT_EQ(listen_text("localhost:65535"), "localhost:65535");
  EXPECT_EQ(listen_text(":1234"), "[::]:1234");
}

TEST(ListenAddressTest, RefusesTheRestWithASentence) {
  for (const char* bad : {"", "[::1", "[::1]80", "::1:80", "host:", "host:x", "host:-1", "host:65536", "host:1x", "[]:80"}) {
    EXPECT_EQ(listen_text(bad).rfind("error: --listen: ", 0), 0u) << bad << " gives " << listen_text(bad);
  }
}

TEST(UnixAddressTest, SettingsComeAfterThePath) {
  const auto plain = parse_unix_address("/run/farcl.sock").value();
  EXPECT_EQ(plain.path, "/run/farcl.sock");
  EXPECT_EQ(plain.mode, 0600u);
  EXPECT_EQ(plain.group, "");
  const auto full = parse_unix_address("/run/a,b,mode=0660,group=video").value();
  EXPECT_EQ(full.path, "/run/a,b");
  EXPECT_EQ(full.mode, 0660u);
  EXPECT_EQ(full.group, "video");
  EXPECT_FALSE(parse_unix_address(",mode=0660"));
  EXPECT_FALSE(parse_unix_address("/a,mode=8"));
  EXPECT_FALSE(parse_unix_address("/a,mode=1777"));
}

TEST(BytesTest, UnitsAndOverflow) {
  EXPECT_EQ(parse_bytes("0").value(), 0u);
  EXPECT_EQ(parse_bytes("2K").value(), 2048u);
  EXPECT_EQ(parse_bytes("3m").value(), 3u << 20);
  EXPECT_EQ(parse_bytes("4G").value(), 4ull << 30);
  EXPECT_EQ(parse_bytes("16777215T").value(), 16777215ull << 40);
  for (const char* bad : {"", "K", "1KB", "-1", "1.5G", "18446744073709551616", "16777216T", " 1"}) {
    EXPECT_FALSE(parse_bytes(bad)) << bad;
  }
}

TEST(OptionsTest, Defaults) {
  const Options options = parse({}).value().options;
  ASSERT_EQ(options.listen.size(), 2u);
  EXPECT_EQ(to_text(options.listen[0]), "127.0.0.1:32725");
  EXPECT_EQ(to_text(options.listen[1]), "[::1]:32725");
  EXPECT_TRUE(options.default_listen);
  EXPECT_EQ(options.kernel_seconds, 0u);
  EXPECT_GT(options.session_memory_bytes, 16u << 20);
  EXPECT_EQ(options.session_limits().resume_seconds, 5u);
}

TEST(OptionsTest, OnlyWhatIsAskedFor) {
  const Options options =
      parse({"--unix", "/tmp/s", "--devices", "cpu,cpu", "--session-memory", "1G", "--build-seconds", "7"}).value().options;
  EXPECT_TRUE(options.listen.empty());
  ASSERT_EQ(options.unix_sockets.size(), 1u);
  EXPECT_EQ(options.devices, "cpu,cpu");
  EXPECT_EQ(options.session_limits().memory_bytes, 1u << 30);
  EXPECT_EQ(options.session_limits().build_seconds, 7u);
}

TEST(OptionsTest, APipeCannotBeResumed) { EXPECT_EQ(parse({"--stdio"}).value().options.session_limits().resume_seconds, 0u); }

TEST(OptionsTest, ComplaintsAreOneLine) {
  EXPECT_NE(complaint({"--devices", "cpu,,cpu"}).find("--devices"), std::string::npos);
  EXPECT_NE(complaint({"--devices", "cpu,"}).find("--devices"), std::string::npos);
  EXPECT_NE(complaint({"--kernel-seconds", "-1"}).find("--kernel-seconds"), std::string::npos);
  EXPECT_NE(complaint({"surplus"}).find("surplus"), std::string::npos);
  for (const auto& words : std::vector<std::vector<const char*>>{{"--listen"}, {"--max-sessions", "0"}, {"--log", "x"}}) {
    EXPECT_EQ(complaint(words).find('\n'), std::string::npos);
  }
}
} // namespace
} // namespace farcl::daemon
