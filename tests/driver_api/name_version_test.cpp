#include "driver/info/name_version.hpp"

#include <gtest/gtest.h>
#include <string>

namespace farcl::driver {
namespace {

TEST(NameVersion, ParsesLists) {
  const auto list = parse_name_versions("OpenCL C:1.2.0;cl_khr_fp64:1.0.3;broken;:1.0.0;x:;y:1;;a:b:3.0.0");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_STREQ(list[0].name, "OpenCL C");
  EXPECT_EQ(list[0].version, CL_MAKE_VERSION(1, 2, 0));
  EXPECT_EQ(list[1].version, CL_MAKE_VERSION(1, 0, 3));
  EXPECT_STREQ(list[2].name, "a:b");
}

TEST(NameVersion, CutsLongNamesAndRefusesLargeNumbers) {
  const std::string name(200, 'n');
  const auto list = parse_name_versions(name + ":1.0.0;big:99999.0.0;huge:4294967296.1.1");
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(std::string(list[0].name), std::string(CL_NAME_VERSION_MAX_NAME_SIZE - 1, 'n'));
}

TEST(NameVersion, ReadsVersionsInText) {
  EXPECT_EQ(version_in("OpenCL 3.0 FarCL"), CL_MAKE_VERSION(3, 0, 0));
  EXPECT_EQ(version_in("OpenCL C 1.2"), CL_MAKE_VERSION(1, 2, 0));
  EXPECT_EQ(version_in("no version"), 0u);
  EXPECT_EQ(version_in(""), 0u);
}

TEST(NameVersion, MakesExtensionLists) {
  const auto list = name_versions_of_extensions(" cl_khr_fp64  cl_khr_icd ");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_STREQ(list[1].name, "cl_khr_icd");
  EXPECT_EQ(list[1].version, CL_MAKE_VERSION(1, 0, 0));
}

} // namespace
} // namespace farcl::driver
