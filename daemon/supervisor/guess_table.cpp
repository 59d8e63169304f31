#include "daemon/supervisor/guess_table.hpp"

#include <algorithm>

namespace farcl::daemon {

GuessTable::Clock::duration GuessTable::failed(const std::string& source, Clock::time_point now) {
  while (!entries_.empty() && (now - entries_.front().last > kForgetAfter || entries_.size() >= kMaxSources)) {
    if (entries_.front().source == source) {
      break; // it is about to be used
    }
    by_source_.erase(entries_.front().source);
    entries_.pop_front();
  }
  auto found = by_source_.find(source);
  if (found == by_source_.end()) {
    found = by_source_.emplace(source, entries_.insert(entries_.end(), Entry{source, 0, now, {}})).first;
  }
  entries_.splice(entries_.end(), entries_, found->second);
  Entry& entry = entries_.back();
  if (now - entry.last > kForgetAfter) {
    entry.failures = 0;
  }
  entry.last = now;
  if (++entry.failures % kFailuresBeforeBan == 0) {
    entry.banned_until = now + kBan;
  }
  const unsigned doublings = std::min(entry.failures - 1, 20u);
  return std::min<Clock::duration>(kFirstDelay * (1u << doublings), kLongestDelay);
}

void GuessTable::succeeded(const std::string& source) {
  if (const auto found = by_source_.find(source); found != by_source_.end()) {
    entries_.erase(found->second);
    by_source_.erase(found);
  }
}

GuessTable::Clock::duration GuessTable::banned_for(const std::string& source, Clock::time_point now) const {
  const auto found = by_source_.find(source);
  return found == by_source_.end() ? Clock::duration::zero() : std::max(found->second->banned_until - now, Clock::duration::zero());
}

} // namespace farcl::daemon
