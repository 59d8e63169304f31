// Every error code of every entry point, as api_list.def lists them: one row each (rows_*.cpp), or the link fails. Entry points that
// are not there are called as they are. On the way each call is held against its allowance of round trips.
#include "driver/icd/stub.hpp"
#include "tests/driver_api/bench.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace farcl::test {
namespace {

struct RowEntry {
  Entry entry;
  cl_int code;
  void (*provoke)(Bench& b);
  bool needs_fresh_server;
};

template <Entry kEntry, std::size_t... kIndex>
void add_rows(std::vector<RowEntry>& rows, std::index_sequence<kIndex...>) {
  (rows.push_back({kEntry, driver::kEntries[static_cast<std::size_t>(kEntry)].codes[kIndex],
                   &provoke<kEntry, driver::kEntries[static_cast<std::size_t>(kEntry)].codes[kIndex]>,
                   kNeedsFreshServer<kEntry, driver::kEntries[static_cast<std::size_t>(kEntry)].codes[kIndex]>}),
   ...);
}

std::vector<RowEntry> all_rows() {
  std::vector<RowEntry> rows;
#define FARCL_ENTRY(name, ...) \
  add_rows<Entry::name>(rows, std::make_index_sequence<driver::kEntries[static_cast<std::size_t>(Entry::name)].codes.size()>());
#define FARCL_ABSENT(name, code, reason)
#include "driver/icd/api_list.def"
  return rows;
}

class ErrorCode : public testing::TestWithParam<RowEntry> {};

void check_round_trips(Entry entry, cl_int, std::uint32_t round_trips) {
  EXPECT_LE(round_trips, static_cast<std::uint32_t>(driver::describe(entry).round_trips)) << driver::describe(entry).name;
}

TEST_P(ErrorCode, IsReturned) {
  const RowEntry& row = GetParam();
  Bench b(row.needs_fresh_server);
  b.wanted = row.code;
  driver::observe_calls(check_round_trips);
  row.provoke(b);
  driver::observe_calls(nullptr);
  EXPECT_GT(b.expectations, 0) << "the row does not test anything";
}

std::string name_of(const testing::TestParamInfo<RowEntry>& info) {
  return std::string(driver::describe(info.param.entry).name) + "_" + std::to_string(-info.param.code);
}
INSTANTIATE_TEST_SUITE_P(Api, ErrorCode, testing::ValuesIn(all_rows()), name_of);

// --- Entry points that are not there -------------------------------------------------------------------------------------------

template <class R, class... Args>
void expect_absent(R(CL_API_CALL* function)(Args...), cl_int code, const char* name) {
  if constexpr (std::is_same_v<R, cl_int>) {
    EXPECT_EQ(function(Args{}...), code) << name;
  } else if constexpr (std::is_pointer_v<R>) {
    std::tuple<Args...> arguments{};
    cl_int returned = code;
    auto& last = std::get<sizeof...(Args) - 1>(arguments);
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(last)>, cl_int*>) {
      returned = 12345;
      last = &returned;
    }
    EXPECT_EQ(std::apply(function, arguments), nullptr) << name;
    EXPECT_EQ(returned, code) << name;
  } else {
    function(Args{}...);
  }
}
void expect_absent(void* function, cl_int code, const char* name) {
  EXPECT_EQ(reinterpret_cast<cl_int(CL_API_CALL*)()>(function)(), code) << name;
}

TEST(AbsentEntryPoints, ReturnTheirCode) {
#define FARCL_ENTRY(name, ...)
#define FARCL_ABSENT(name, code, reason) expect_absent(api.name, code, #name);
#include "driver/icd/api_list.def"
}

TEST(ApiList, HasEveryMemberOfTheDispatchTableAndNoGaps) {
  EXPECT_EQ(sizeof(cl_icd_dispatch), driver::kEntryCount * sizeof(void*));
  const auto* members = reinterpret_cast<void* const*>(&api);
  EXPECT_EQ(std::count(members, members + driver::kEntryCount, nullptr), 0);
}

TEST(ApiList, NamesEachCodeOnceAndGivesReasons) {
  for (const driver::EntryDescription& entry : driver::kEntries) {
    const std::set<cl_int> codes(entry.codes.begin(), entry.codes.end());
    EXPECT_EQ(codes.size(), entry.codes.size()) << entry.name;
    EXPECT_TRUE(entry.round_trips == 0 || !entry.reason.empty()) << entry.name;
    EXPECT_TRUE(entry.present || !entry.reason.empty()) << entry.name;
  }
}

// --- The guard ---------------------------------------------------------------------------------------------------------------

TEST(Guard, TurnsExceptionsIntoCodes) {
  EXPECT_EQ(driver::guard(Entry::clFlush, []() -> cl_int { throw std::bad_alloc(); }), CL_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(driver::guard(Entry::clFlush, []() -> cl_int { throw std::length_error("x"); }), CL_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(driver::guard(Entry::clFlush, []() -> cl_int { throw std::runtime_error("x"); }), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(driver::guard(Entry::clFlush, []() -> cl_int { throw 1; }), CL_OUT_OF_RESOURCES);
  cl_int code = 1;
  const auto made = driver::guard_create(Entry::clCreateKernel, &code, []() -> driver::ApiResult<cl_kernel> { throw std::bad_alloc(); });
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(code, CL_OUT_OF_HOST_MEMORY);
}

} // namespace
} // namespace farcl::test
