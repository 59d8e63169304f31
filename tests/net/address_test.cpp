// The forms of server addresses, good and bad.
#include "farcl/net/address.hpp"

#include "temporary_folder.hpp"

#include <fstream>
#include <gtest/gtest.h>

namespace farcl::net {
namespace {

struct Good {
  const char* text;
  ServerAddress expected;
};

ServerAddress tcp(std::string host, std::uint16_t port = kDefaultPort) {
  ServerAddress address;
  address.host = std::move(host);
  address.port = port;
  return address;
}
ServerAddress with_device(ServerAddress address, std::uint32_t device) {
  address.device = device;
  return address;
}
ServerAddress with_peer(ServerAddress address, std::string host, std::uint16_t port) {
  address.peer_host = std::move(host);
  address.peer_port = port;
  return address;
}
ServerAddress ssh(std::string user, std::string host, std::uint16_t port = 0) {
  ServerAddress address = tcp(std::move(host), port);
  address.scheme = Scheme::kSsh;
  address.user = std::move(user);
  return address;
}
ServerAddress unix_path(std::string path) {
  ServerAddress address;
  address.scheme = Scheme::kUnix;
  address.port = 0;
  address.path = std::move(path);
  return address;
}

class GoodAddress : public ::testing::TestWithParam<Good> {};

TEST_P(GoodAddress, IsUnderstood) {
  const auto parsed = parse_server_address(GetParam().text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  ServerAddress expected = GetParam().expected;
  expected.text = GetParam().text;
  EXPECT_EQ(*parsed, expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, GoodAddress,
    ::testing::Values(Good{"gpu1", tcp("gpu1")}, Good{"gpu1:1", tcp("gpu1", 1)}, Good{"gpu1:65535", tcp("gpu1", 65535)},
                      Good{"a-b_c.example.org:7000", tcp("a-b_c.example.org", 7000)}, Good{"10.0.0.1", tcp("10.0.0.1")},
                      Good{"[::1]", tcp("::1")}, Good{"[fe80::1%eth0]:99", tcp("fe80::1%eth0", 99)},
                      Good{"[::ffff:1.2.3.4]:99", tcp("::ffff:1.2.3.4", 99)}, Good{"host/2", with_device(tcp("host"), 2)},
                      Good{"host:5/0", with_device(tcp("host", 5), 0)}, Good{"[::1]:5/3", with_device(tcp("::1", 5), 3)},
                      Good{"host:5#10.1.1.1:6", with_peer(tcp("host", 5), "10.1.1.1", 6)},
                      Good{"host#ib0", with_peer(tcp("host"), "ib0", kDefaultPort)},
                      Good{"host:5/1#[fd00::1]:6", with_peer(with_device(tcp("host", 5), 1), "fd00::1", 6)},
                      Good{"unix:/run/farcl.sock", unix_path("/run/farcl.sock")}, Good{"ssh://gpu1", ssh("", "gpu1")},
                      Good{"ssh://me@gpu1:22", ssh("me", "gpu1", 22)}, Good{"ssh://me@gpu1/1", with_device(ssh("me", "gpu1"), 1)}));

class BadAddress : public ::testing::TestWithParam<const char*> {};

TEST_P(BadAddress, IsRefusedWithASentence) {
  const auto parsed = parse_server_address(GetParam());
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalid);
  EXPECT_GT(parsed.error().message.size(), 20u);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadAddress,
    ::testing::Values("", ":", ":5", "host:", "host:0", "host:65536", "host:-1", "host:5x", "host: 5", "ho st", "host:1:2", "::1", "[::1",
                      "[::1]x", "[]", "[host]:5", "[::1]:", "host/", "host/x", "host/-1", "host/4294967296", "host#", "host#:5", "host#a:b",
                      "-oProxyCommand=reboot", "ssh://-oProxyCommand=x", "ssh://-l@host", "ssh://a b@host", "ssh://@host", "ssh://",
                      "ssh://host;reboot", "ssh://$(reboot)", "ssh://u@h`id`", "ssh://a@b@c", "unix:", "unix:relative", "http://host",
                      "tcp://host", "host\nx", "h\xc3\xb6st", "@/etc/hosts", "host:5/2/3", ".host",
                      "unix:/0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                      "01234567890123456789"));

TEST(Address, WhatIsNotBuiltYetIsSaidSo) {
  for (const char* text : {"auto", "slurm", "rdma://host:5"}) {
    const auto parsed = parse_server_address(text);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().code, ErrorCode::kUnsupported);
  }
}

TEST(ServerListTest, TakesCommasAndSpaces) {
  const auto list = parse_server_list("  a:1,b:2 c:3,\t,d:4\n");
  ASSERT_EQ(list.servers.size(), 4u);
  EXPECT_EQ(list.servers[3].host, "d");
  EXPECT_TRUE(list.complaints.empty());
  EXPECT_TRUE(parse_server_list("").servers.empty());
  EXPECT_TRUE(parse_server_list(" , ,").servers.empty());
}

TEST(ServerListTest, OneBadEntryDoesNotHideTheOthers) {
  const auto list = parse_server_list("a:1 b:x c:3 auto");
  ASSERT_EQ(list.servers.size(), 2u);
  EXPECT_EQ(list.servers[1].host, "c");
  EXPECT_EQ(list.complaints.size(), 2u);
}

TEST(ServerListTest, IsBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "host" + std::to_string(i) + ",";
  }
  const auto list = parse_server_list(text);
  EXPECT_EQ(list.servers.size(), kMaxServers);
  EXPECT_EQ(list.complaints.size(), 1u);
}

TEST(ServerListTest, ReadsHostfiles) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("hosts");
  std::ofstream(path) << "# the cluster\nnode1:7000\n\nnode2#ib2:7001   # with its fast address\n  node3/1\r\nbad:port\n";
  const auto list = parse_server_list("@" + path + ",last");
  ASSERT_EQ(list.servers.size(), 4u);
  EXPECT_EQ(list.servers[1].peer_host, "ib2");
  EXPECT_EQ(list.servers[2].device, 1u);
  EXPECT_EQ(list.servers[3].host, "last");
  EXPECT_EQ(list.complaints.size(), 1u);
}

TEST(ServerListTest, AMissingOrHugeHostfileIsAComplaint) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(parse_server_list("@" + folder.file("none")).complaints.size(), 1u);
  EXPECT_EQ(parse_server_list("@" + folder.path().string()).complaints.size(), 1u) << "a folder";
  const std::string huge = folder.file("huge");
  std::ofstream(huge) << std::string((1u << 20) + 10, '\n');
  EXPECT_EQ(parse_server_list("@" + huge).complaints.size(), 1u);
}

} // namespace
} // namespace farcl::net
