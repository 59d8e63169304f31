// docs/api.md holds a table made from api_list.def, between two marker lines. FARCL_UPDATE_DOCUMENTS=1 writes it anew.
#include "driver/icd/entry_points.hpp"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace farcl::test {
namespace {

constexpr const char* kBegin = "<!-- made from driver/icd/api_list.def: begin -->\n";
constexpr const char* kEnd = "<!-- made from driver/icd/api_list.def: end -->\n";

std::string table() {
  std::ostringstream out;
  std::size_t present = 0;
  for (const driver::EntryDescription& entry : driver::kEntries) {
    present += entry.present ? 1 : 0;
  }
  out << kBegin << "\n"
      << present << " of " << driver::kEntryCount << " entry points of OpenCL's dispatch table are there.\n\n"
      << "| entry point | round trips | error codes |\n|---|---|---|\n";
  for (const driver::EntryDescription& entry : driver::kEntries) {
    if (entry.present) {
      out << "| `" << entry.name << "` | " << entry.round_trips << (entry.reason.empty() ? "" : ": ") << entry.reason << " | "
          << entry.code_names << " |\n";
    }
  }
  out << "\nNot there:\n\n| entry point | returns | why |\n|---|---|---|\n";
  for (const driver::EntryDescription& entry : driver::kEntries) {
    if (!entry.present) {
      out << "| `" << entry.name << "` | " << entry.code_names << " | " << entry.reason << " |\n";
    }
  }
  out << "\n" << kEnd;
  return out.str();
}

TEST(Documentation, ApiTableIsUpToDate) {
  std::ifstream file(FARCL_API_DOCUMENT);
  std::stringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_NE(begin, std::string::npos) << FARCL_API_DOCUMENT;
  ASSERT_NE(end, std::string::npos) << FARCL_API_DOCUMENT;
  const std::string current = text.substr(begin, end + std::string(kEnd).size() - begin);
  if (std::getenv("FARCL_UPDATE_DOCUMENTS") != nullptr) {
    std::ofstream(FARCL_API_DOCUMENT) << text.substr(0, begin) << table() << text.substr(end + std::string(kEnd).size());
    return;
  }
  EXPECT_EQ(current, table()) << "run this test with FARCL_UPDATE_DOCUMENTS=1";
}

} // namespace
} // namespace farcl::test
