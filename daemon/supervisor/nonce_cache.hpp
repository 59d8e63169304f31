// The nonces of the hellos that were let in lately: a hello that comes a second time is a copy.
//
// Only owners of a key fill it, and it is bounded. A copy that is older than it remembers, or than this daemon, starts an encrypted
// connection that its sender cannot finish, without the key: it costs a process for some seconds and nothing else.
#pragma once

#include "farcl/protocol/hello.hpp"

#include <cstddef>
#include <deque>
#include <set>

namespace farcl::daemon {

class NonceCache {
public:
  static constexpr std::size_t kMaxNonces = 65536;

  /// False: it has been seen before.
  bool insert(const protocol::HelloNonce& nonce) {
    if (!seen_.insert(nonce).second) {
      return false;
    }
    in_order_.push_back(nonce);
    if (in_order_.size() > kMaxNonces) {
      seen_.erase(in_order_.front());
      in_order_.pop_front();
    }
    return true;
  }

private:
  std::set<protocol::HelloNonce> seen_;
  std::deque<protocol::HelloNonce> in_order_;
};

} // namespace farcl::daemon
