#include "launch_trace.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace farcl::tools {

namespace {
using Stamps = std::vector<TraceStamp>;
using Iterator = Stamps::const_iterator;

enum Step : std::size_t {
  kEncode,
  kCollect,
  kWrite,
  kWakeUp,
  kDecode,
  kDispatch,
  kRun,
  kAwaitFinish,
  kReply,
  kReplyWrite,
  kReplyWakeUp,
  kReturn,
  kStepCount
};
struct StepText {
  const char* name;
  const char* where;
};
constexpr std::array<StepText, kStepCount> kTexts{{
    {"encode", "client"},
    {"collect, until the flush of clFinish", "client"},
    {"write", "client"},
    {"wake-up: the way to the other core", "between"},
    {"decode", "server"},
    {"check and dispatch", "server"},
    {"run", "server"},
    {"wait for the message of clFinish", "server"},
    {"reply", "server"},
    {"write of the reply", "server"},
    {"wake-up: the way back", "between"},
    {"read, complete and return", "client"},
}};
using Launch = std::array<std::uint64_t, kStepCount + 1>; ///< the begins of the steps, and the end

bool is(const TraceStamp& stamp, TracePoint point) { return stamp.point == point; }

std::optional<Iterator> first(Iterator from, Iterator end, TracePoint point) {
  const auto found = std::find_if(from, end, [&](const TraceStamp& one) { return is(one, point); });
  return found == end ? std::nullopt : std::optional(found);
}

std::optional<Iterator> last(Iterator begin, Iterator end, TracePoint point) {
  while (end != begin) {
    if (is(*--end, point)) {
      return end;
    }
  }
  return std::nullopt;
}

Iterator at_time(const Stamps& stamps, std::uint64_t ns) {
  return std::lower_bound(stamps.begin(), stamps.end(), ns, [](const TraceStamp& one, std::uint64_t time) { return one.ns < time; });
}

/// The worker's part of a launch between two times.
bool read_worker(Iterator begin, Iterator end, Launch& launch, std::uint64_t& reply_sent) {
  const auto decoded = first(begin, end, TracePoint::kDecoded);
  const auto received = decoded ? last(begin, *decoded, TracePoint::kReceived) : std::nullopt;
  const auto running = decoded ? first(*decoded, end, TracePoint::kRunning) : std::nullopt;
  const auto ran = running ? first(*running, end, TracePoint::kRan) : std::nullopt;
  const auto replied = ran ? first(*ran, end, TracePoint::kReplied) : std::nullopt;
  const auto sending = replied ? first(*replied, end, TracePoint::kSending) : std::nullopt;
  const auto sent = sending ? first(*sending, end, TracePoint::kSent) : std::nullopt;
  if (!received || !sending) {
    return false;
  }
  const auto finish = last(*ran, *replied, TracePoint::kReceived); // unless it came together with the launch
  launch[kDecode] = (*received)->ns;
  launch[kDispatch] = (*decoded)->ns;
  launch[kRun] = (*running)->ns;
  launch[kAwaitFinish] = (*ran)->ns;
  launch[kReply] = finish ? (*finish)->ns : (*ran)->ns;
  launch[kReplyWrite] = (*sending)->ns;
  reply_sent = sent ? (*sent)->ns : UINT64_MAX; // it may go on while the client is done already
  return true;
}

std::optional<Launch> read_launch(Iterator called, Iterator returning, const Stamps& worker) {
  Launch launch{};
  std::uint64_t reply_sent = 0;
  if (!read_worker(at_time(worker, called->ns), at_time(worker, returning->ns), launch, reply_sent)) {
    return std::nullopt;
  }
  const auto encoded = first(called, returning, TracePoint::kEncoded);
  const auto heard = last(called, returning, TracePoint::kReceived);
  const auto arrived = std::find_if(called, returning, [&](const TraceStamp& one) { return one.ns > launch[kDecode]; });
  const auto sending = last(called, arrived, TracePoint::kSending); // the write that brought the launch there
  const auto sent = sending ? first(*sending, returning, TracePoint::kSent) : std::nullopt;
  if (!encoded || !heard || !sent || (*heard)->ns < launch[kReplyWrite]) {
    return std::nullopt;
  }
  launch[kEncode] = called->ns;
  launch[kCollect] = (*encoded)->ns;
  launch[kWrite] = (*sending)->ns;
  launch[kWakeUp] = std::min((*sent)->ns, launch[kDecode]); // a spinning reader has the bytes before the write has returned
  launch[kReplyWakeUp] = std::min(reply_sent, (*heard)->ns);
  launch[kReturn] = (*heard)->ns;
  launch[kStepCount] = returning->ns;
  return std::is_sorted(launch.begin(), launch.end()) ? std::optional(launch) : std::nullopt;
}

LaunchStep summarise(const StepText& text, std::vector<std::uint64_t> times_ns) {
  LaunchStep step{text.name, text.where, 0, 0};
  if (!times_ns.empty()) {
    std::sort(times_ns.begin(), times_ns.end());
    step.median_us = static_cast<double>(times_ns[times_ns.size() / 2]) / 1e3;
    step.p99_us = static_cast<double>(times_ns[times_ns.size() * 99 / 100]) / 1e3;
  }
  return step;
}

LaunchStep summarise(const StepText& text, const std::vector<Launch>& launches, std::size_t from, std::size_t to) {
  std::vector<std::uint64_t> times;
  times.reserve(launches.size());
  for (const Launch& launch : launches) {
    times.push_back(launch[to] - launch[from]);
  }
  return summarise(text, std::move(times));
}
} // namespace

LaunchTable tabulate_launches(const Stamps& client, const Stamps& worker) {
  std::vector<Launch> launches;
  for (auto called = first(client.begin(), client.end(), TracePoint::kCalled); called;) {
    const auto returning = first(*called, client.end(), TracePoint::kReturning);
    const auto next = first(*called + 1, client.end(), TracePoint::kCalled);
    if (returning && (!next || *returning < *next)) {
      if (const auto launch = read_launch(*called, *returning, worker)) {
        launches.push_back(*launch);
      }
    }
    called = next;
  }
  LaunchTable table;
  table.launches = launches.size();
  for (std::size_t i = 0; i < kStepCount; ++i) {
    table.steps.push_back(summarise(kTexts[i], launches, i, i + 1));
  }
  table.whole = summarise({"all of it", ""}, launches, 0, kStepCount);
  return table;
}

} // namespace farcl::tools
