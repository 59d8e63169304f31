// Keys: their lines and files, which one is for which server, and the codes that are made with them.
#include "farcl/net/keys.hpp"

#include "farcl/net/hello_seal.hpp"
#include "temporary_folder.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace farcl::net {
namespace {

using testing::TemporaryFolder;

constexpr const char* kSecret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="; ///< bytes 0 to 31

std::string complaint(const std::string& line) {
  const auto key = parse_key_line(line);
  return key ? "no complaint" : key.error().message;
}

ServerAddress server(const std::string& text) { return *parse_server_address(text); }

TEST(Key, IsAsItWasWritten) {
  const auto key =
      parse_key_line(std::string("  alice\t") + kSecret + " servers=host:1,[::1]:*  expires=2027-01-31 sessions=4 memory=8G\r");
  ASSERT_TRUE(key.has_value()) << key.error().message;
  EXPECT_EQ(key->name, "alice");
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(key->secret.bytes[i], i);
  }
  EXPECT_EQ(key->servers, (std::vector<std::string>{"host:1", "[::1]:*"}));
  EXPECT_EQ(key->expires_at, 1801440000); // 2027-02-01, 0:00 UTC
  EXPECT_EQ(key->max_sessions, 4u);
  EXPECT_EQ(key->memory_bytes, std::uint64_t{8} << 30);
  const auto again = parse_key_line(to_line(*key));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_line(*again), to_line(*key));
  EXPECT_EQ(again->id, key->id);
  EXPECT_EQ(again->expires_at, key->expires_at);
}

TEST(Key, ComplainsAboutWhatItDoesNotUnderstand) {
  const std::string good = std::string("alice ") + kSecret;
  EXPECT_EQ(complaint(good), "no complaint");
  for (const char* bad : {"", "alice", "al/ice secret", "alice AAEC", "alice none"}) {
    EXPECT_NE(complaint(bad), "no complaint") << bad;
  }
  std::string other = good;
  other[other.size() - 2] = '9'; // bits behind the last byte: another text for the same secret
  EXPECT_NE(complaint(other), "no complaint");
  for (const char* bad :
       {" sessions=0", " sessions=-1", " sessions=4x", " memory=0", " memory=4Q", " expires=tomorrow", " expires=2027-02-29",
        " expires=2027-13-01", " expires=2027-1-1", " servers=", " unknown=1", " word", " =", " expires"}) {
    EXPECT_NE(complaint(good + bad), "no complaint") << bad;
  }
  EXPECT_EQ(complaint("lab none servers=lab*"), "no complaint");
}

TEST(Key, EachIsFresh) {
  const auto one = make_key("a");
  const auto two = make_key("a");
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->secret.bytes, two->secret.bytes);
  EXPECT_NE(one->id, two->id);
  EXPECT_FALSE(one->is_none());
}

class KeyFile : public ::testing::Test {
protected:
  std::string write(const std::string& text, unsigned mode = 0600) {
    const std::string path = folder_.file("keys");
    std::ofstream(path, std::ios::trunc) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::string name_for(const std::string& path, const std::string& address) {
    const auto key = key_for(server(address), path);
    return !key ? "error: " + key.error().message : *key == nullptr ? "none" : (*key)->name;
  }
  std::string line(const std::string& name, const std::string& options = "") {
    auto key = *make_key(name);
    return to_line(key) + " " + options + "\n";
  }
  TemporaryFolder folder_;
};

TEST_F(KeyFile, TheFirstThatFitsIsUsed) {
  const std::string path = write("# mine\n\n" + line("special", "servers=lab:7000") + line("lab", "servers=lab,lab.*") +
                                 "open none servers=localhost,127.*:5000\n" + line("six", "servers=[fd00::*]:*") + line("rest"));
  EXPECT_EQ(name_for(path, "lab:7000"), "special");
  EXPECT_EQ(name_for(path, "lab:7001"), "lab");
  EXPECT_EQ(name_for(path, "lab.example.org"), "lab");
  EXPECT_EQ(name_for(path, "laboratory"), "rest");
  EXPECT_EQ(name_for(path, "localhost:9"), "none");
  EXPECT_EQ(name_for(path, "127.0.0.1:5000"), "none");
  EXPECT_EQ(name_for(path, "127.0.0.1:5001"), "rest");
  EXPECT_EQ(name_for(path, "[fd00::17]:5001"), "six");
  EXPECT_EQ(name_for(path, "unix:/run/farcl.sock"), "none");
  EXPECT_EQ(name_for(path, "ssh://lab"), "none");
}

TEST_F(KeyFile, IsNobodyElsesBusiness) {
  for (const unsigned mode : {0640u, 0604u, 0620u, 0601u}) {
    const std::string path = write(line("a"), mode);
    EXPECT_NE(name_for(path, "host").find("chmod 600 " + path), std::string::npos) << mode;
  }
  EXPECT_EQ(name_for(write(line("a"), 0400), "host"), "a");
}

TEST_F(KeyFile, SaysWhereItIsWrong) {
  EXPECT_NE(name_for(write(line("a") + "\n# x\nnonsense\n"), "host").find("line 4"), std::string::npos);
  EXPECT_NE(name_for(write(line("a") + line("a")), "host").find("another key with the name a"), std::string::npos);
  EXPECT_NE(name_for(folder_.file("missing"), "host").find("cannot read the key file"), std::string::npos);
  EXPECT_NE(name_for(folder_.path().string(), "host").find("no ordinary file"), std::string::npos);
  EXPECT_NE(name_for(write(std::string(2u << 20, '#')), "host").find("larger than 1 MiB"), std::string::npos);
}

TEST_F(KeyFile, TheUsualOneMayBeMissing) {
  ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
  EXPECT_EQ(default_key_file(), folder_.file("farcl/keys"));
  EXPECT_EQ(name_for("", "host"), "none");
  ::unsetenv("XDG_CONFIG_HOME");
}

// --- codes ---------------------------------------------------------------------------------------------------------------------

class Seals : public ::testing::Test {
protected:
  Seals() {
    protocol::Hello hello;
    hello.key = alice.id;
    hello.nonce = *make_nonce();
    hello.session.fill(7);
    bytes = protocol::encode_hello(hello);
    prove_session(bytes, secret);
    seal_hello(bytes, alice);
  }
  Key alice = *make_key("alice");
  Key bob = *make_key("bob");
  SessionSecret secret{1, 2, 3};
  protocol::HelloBytes bytes{};
};

TEST_F(Seals, EveryByteOfAHelloCounts) {
  EXPECT_TRUE(is_sealed_by(bytes, alice));
  EXPECT_FALSE(is_sealed_by(bytes, bob));
  EXPECT_TRUE(proves_session(bytes, secret));
  EXPECT_FALSE(proves_session(bytes, SessionSecret{1, 2, 4}));
  const Secret key = one_time_key(alice, bytes);
  EXPECT_NE(key.bytes, one_time_key(bob, bytes).bytes);
  EXPECT_NE(key.bytes, alice.secret.bytes);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto changed = bytes;
    changed[at] ^= std::byte{0x40};
    EXPECT_FALSE(is_sealed_by(changed, alice)) << at;
    EXPECT_NE(key.bytes, one_time_key(alice, changed).bytes) << at;
    EXPECT_EQ(proves_session(changed, secret), at >= protocol::kHelloMacAt) << at;
  }
}

TEST_F(Seals, AReplyBelongsToItsHello) {
  protocol::HelloReply reply;
  reply.status = protocol::HelloStatus::kObituary;
  reply.text = "it died";
  auto answer = protocol::encode_hello_reply(reply);
  EXPECT_FALSE(is_sealed_by(answer, bytes, alice));
  seal_reply(answer, bytes, alice);
  EXPECT_TRUE(is_sealed_by(answer, bytes, alice));
  EXPECT_FALSE(is_sealed_by(answer, bytes, bob));
  for (std::size_t at = 0; at < answer.size(); ++at) {
    auto changed = answer;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(is_sealed_by(changed, bytes, alice)) << at;
  }
  auto other = bytes;
  other[100] ^= std::byte{1};
  EXPECT_FALSE(is_sealed_by(answer, other, alice));
}

TEST_F(Seals, ACodeForOnePurposeServesNoOther) {
  Key session_as_key = alice;
  session_as_key.secret = Secret(secret);
  auto both = bytes;
  prove_session(both, secret);
  auto sealed = both;
  seal_hello(sealed, session_as_key);
  EXPECT_NE(std::vector<std::byte>(both.begin() + protocol::kHelloProofAt, both.begin() + protocol::kHelloProofAt + 32),
            std::vector<std::byte>(sealed.begin() + protocol::kHelloMacAt, sealed.end()));
}

// The same as tests/supervisor/daemon_under_test.py makes with Python's library.
TEST(KnownAnswer, IdOfAKey) {
  const auto key = parse_key_line(std::string("a ") + kSecret);
  ASSERT_TRUE(key.has_value());
  constexpr protocol::KeyId kExpected = {0xb3, 0x8b, 0xe1, 0xaa, 0xdb, 0x52, 0x73, 0x76, 0x1d, 0x94, 0xf6, 0x9f, 0x44, 0x2e, 0x73, 0x6b};
  EXPECT_EQ(key->id, kExpected);
}

} // namespace
} // namespace farcl::net
