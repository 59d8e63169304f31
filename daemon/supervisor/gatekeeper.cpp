#include "daemon/supervisor/gatekeeper.hpp"

namespace farcl::daemon {

namespace {
using protocol::HelloStatus;

tl::unexpected<Refusal> refuse(HelloStatus status, std::string text, net::KeyPtr sealed_by = nullptr) {
  return tl::unexpected<Refusal>(Refusal{status, std::move(text), std::move(sealed_by), {}});
}
} // namespace

tl::expected<Admission, Refusal> Gatekeeper::admit(const HelloTable::Arrival& arrival, const protocol::Hello& hello) {
  const bool has_key = hello.key != protocol::KeyId{};
  if (!arrival.peer.over_tcp || (!keys_.is_used() && !has_key)) {
    return Admission{};
  }
  if (!keys_.is_used()) {
    return refuse(HelloStatus::kNoKeys, "this server has no keys (farcld --keys)");
  }
  const auto now = GuessTable::Clock::now();
  if (const auto left = guesses_.banned_for(arrival.peer.source, now); left.count() != 0) {
    return refuse(HelloStatus::kKeyRefused, "there were too many wrong keys from this address; try again in " +
                                                std::to_string(std::chrono::ceil<std::chrono::seconds>(left).count()) + " s");
  }
  if (!has_key) {
    return refuse(HelloStatus::kKeyWanted,
                  "this server lets in nobody without a key; put yours into ~/.config/farcl/keys, or name its file with FARCL_KEY_FILE");
  }
  return check_key(arrival, hello);
}

tl::expected<Admission, Refusal> Gatekeeper::check_key(const HelloTable::Arrival& arrival, const protocol::Hello& hello) {
  const net::KeyPtr key = keys_.find(hello.key);
  if (key == nullptr || !net::is_sealed_by(arrival.bytes, *key)) {
    return wrong_key(arrival.peer);
  }
  if (!nonces_.insert(hello.nonce)) {
    return wrong_key(arrival.peer); // not the key's owner, but somebody who has listened
  }
  guesses_.succeeded(arrival.peer.source);
  if (auto objection = keys_.objection(*key, seconds_since_1970())) {
    return refuse(HelloStatus::kKeyRefused, std::move(*objection), key);
  }
  return Admission{key, net::one_time_key(*key, arrival.bytes)};
}

/// The same words whatever was wrong: who guesses learns nothing.
tl::unexpected<Refusal> Gatekeeper::wrong_key(const Peer& peer) {
  auto refusal = refuse(HelloStatus::kKeyRefused, "this server does not know the key");
  refusal.value().hold_back = guesses_.failed(peer.source, GuessTable::Clock::now());
  return refusal;
}

} // namespace farcl::daemon
