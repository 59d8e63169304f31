#include "farcl/net/accept.hpp"

namespace farcl::net {

namespace {
using namespace std::chrono_literals;
/// A reply to a hello that the peer does not take within this is a connection not worth having.
constexpr auto kHelloReplyTime = 1s;
} // namespace

Status send_hello_reply(Transport& transport, const protocol::HelloReply& reply) {
  const auto encoded = protocol::encode_hello_reply(reply);
  ConstBytes bytes(encoded);
  const auto until = std::chrono::steady_clock::now() + kHelloReplyTime;
  while (!bytes.empty()) {
    auto written = transport.send(std::span<const ConstBytes>(&bytes, 1));
    if (!written) {
      return pass_on(std::move(written));
    }
    bytes = bytes.subspan(*written);
    const auto now = std::chrono::steady_clock::now();
    if (now >= until) {
      return fail(ErrorCode::kTimeout, "the peer does not take the answer to its hello");
    }
    if (*written == 0) {
      transport.wait(Interest::kWritable, until - now, nullptr);
    }
  }
  return {};
}

} // namespace farcl::net
