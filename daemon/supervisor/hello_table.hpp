// Connections that were accepted and have not said their hello yet.
//
// Exactly kHelloBytes are read of each, never one more: what follows belongs to the worker. Each has a time limit; the table is
// bounded, and when it is full the source with the most entries loses its oldest, so a crowd cannot shut others out.
#pragma once

#include "daemon/supervisor/event_loop.hpp"
#include "daemon/supervisor/peer.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/protocol/hello.hpp"

#include <chrono>
#include <functional>
#include <list>

namespace farcl::daemon {

class HelloTable {
public:
  static constexpr std::size_t kMaxWaiting = 1000;

  struct Arrival {
    UniqueFd socket; ///< still non-blocking
    Peer peer;
    protocol::HelloBytes bytes{};
    EventLoop::Clock::time_point accepted;
  };
  using OnHello = std::function<void(Arrival)>;
  /// A connection that sent something else than a hello, too little in time, or too little before it closed.
  using OnBad = std::function<void(const Peer&, const char* why)>;

  HelloTable(EventLoop& loop, std::chrono::milliseconds time_limit, OnHello on_hello, OnBad on_bad)
      : loop_(loop), time_limit_(time_limit), on_hello_(std::move(on_hello)), on_bad_(std::move(on_bad)) {}
  ~HelloTable() { clear(); }

  /// Reads at once what is there: a hello that came with the connection needs no second turn of the loop.
  void add(UniqueFd socket, Peer peer);
  void clear();
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

private:
  struct Waiting {
    Arrival arrival;
    std::size_t filled = 0;
    EventLoop::TimerId timer = 0;
    bool watched = false;
  };
  using Entry = std::list<Waiting>::iterator;
  void read(Entry entry);
  void drop(Entry entry, const char* why);
  Arrival take(Entry entry);
  Entry one_to_give_up();

  EventLoop& loop_;
  std::chrono::milliseconds time_limit_;
  OnHello on_hello_;
  OnBad on_bad_;
  std::list<Waiting> waiting_; ///< the oldest first
};

} // namespace farcl::daemon
