#include "daemon/supervisor/hello_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <unistd.h>

namespace farcl::daemon {

namespace {
bool starts_like_a_hello(const protocol::HelloBytes& bytes, std::size_t filled) {
  return std::memcmp(bytes.data(), protocol::kMagic.data(), std::min(filled, protocol::kMagic.size())) == 0;
}
} // namespace

void HelloTable::add(UniqueFd socket, Peer peer) {
  if (waiting_.size() >= kMaxWaiting) {
    drop(one_to_give_up(), "too many connections are waiting");
  }
  Waiting one;
  one.arrival = {std::move(socket), std::move(peer), {}, EventLoop::Clock::now()};
  const Entry entry = waiting_.insert(waiting_.end(), std::move(one));
  entry->timer = loop_.run_after(time_limit_, [this, entry] {
    entry->timer = 0;
    drop(entry, "no hello came in time");
  });
  read(entry);
}

void HelloTable::read(Entry entry) {
  Waiting& one = *entry;
  while (one.filled < protocol::kHelloBytes) {
    const ssize_t got = ::read(one.arrival.socket.get(), one.arrival.bytes.data() + one.filled, protocol::kHelloBytes - one.filled);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!one.watched) {
        one.watched = true;
        if (!loop_.watch(one.arrival.socket.get(), [this, entry] { read(entry); })) {
          one.watched = false;
          drop(entry, "it cannot be watched");
        }
      }
      return;
    }
    if (got <= 0) {
      return drop(entry, one.filled == 0 ? "it closed before its hello" : "it closed in the middle of its hello");
    }
    one.filled += static_cast<std::size_t>(got);
    if (!starts_like_a_hello(one.arrival.bytes, one.filled)) {
      return drop(entry, "it does not speak FarCL");
    }
  }
  on_hello_(take(entry));
}

HelloTable::Arrival HelloTable::take(Entry entry) {
  if (entry->watched) {
    loop_.forget(entry->arrival.socket.get());
  }
  loop_.cancel(entry->timer);
  Arrival arrival = std::move(entry->arrival);
  waiting_.erase(entry);
  return arrival;
}

void HelloTable::drop(Entry entry, const char* why) {
  const Arrival arrival = take(entry);
  on_bad_(arrival.peer, why);
}

HelloTable::Entry HelloTable::one_to_give_up() {
  std::map<std::string, std::size_t> counts;
  std::size_t most = 0;
  for (const Waiting& one : waiting_) {
    most = std::max(most, ++counts[one.arrival.peer.source]);
  }
  return std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return counts[one.arrival.peer.source] == most; });
}

void HelloTable::clear() {
  while (!waiting_.empty()) {
    take(waiting_.begin());
  }
}

} // namespace farcl::daemon
