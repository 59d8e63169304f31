// The gatekeeper looks at each hello and says whether who sent it may come in: with a key over TCP when this server has keys, else
// everybody. Unix sockets and pipes belong to users of this machine, whom the system has let in.
//
// It alone uses the keys. What it gives away is a key for one connection.
#pragma once

#include "daemon/supervisor/guess_table.hpp"
#include "daemon/supervisor/hello_table.hpp"
#include "daemon/supervisor/key_ring.hpp"
#include "daemon/supervisor/nonce_cache.hpp"
#include "farcl/net/hello_seal.hpp"

#include <tl/expected.hpp>

namespace farcl::daemon {

/// Who came in, and how the connection goes on.
struct Admission {
  net::KeyPtr key;          ///< null: no key was needed, and the connection stays in the clear
  net::Secret one_time_key; ///< with a key: for the encryption
};

struct Refusal {
  protocol::HelloStatus status = protocol::HelloStatus::kRefused;
  std::string text;
  net::KeyPtr sealed_by;                   ///< the owner of a key is told in a way that he can trust
  GuessTable::Clock::duration hold_back{}; ///< so long until he hears it
};

class Gatekeeper {
public:
  explicit Gatekeeper(KeyRing keys) : keys_(std::move(keys)) {}

  [[nodiscard]] tl::expected<Admission, Refusal> admit(const HelloTable::Arrival& arrival, const protocol::Hello& hello);
  [[nodiscard]] KeyRing& keys() noexcept { return keys_; }

private:
  [[nodiscard]] tl::expected<Admission, Refusal> check_key(const HelloTable::Arrival& arrival, const protocol::Hello& hello);
  [[nodiscard]] tl::unexpected<Refusal> wrong_key(const Peer& peer);

  KeyRing keys_;
  GuessTable guesses_;
  NonceCache nonces_;
};

} // namespace farcl::daemon
