// TemporaryFolder: a private folder goes, also while somebody else is at work in it.
#include "temporary_folder.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace farcl::tools {
namespace {

void make_file(const std::filesystem::path& path) { std::ofstream(path) << "x"; }

TEST(TemporaryFolder, IsPrivateAndGoesWithEverythingInIt) {
  std::filesystem::path path;
  {
    auto folder = TemporaryFolder::create();
    ASSERT_TRUE(folder) << folder.error().message;
    path = folder->path();
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    std::filesystem::create_directories(path / "a" / "b");
    make_file(path / "a" / "b" / "file");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// What happens when a farcld that is ending removes its socket at the same time.
TEST(TemporaryFolder, GoesWhileSomebodyElseRemovesFilesInIt) {
  constexpr int kFolders = 50;
  constexpr int kFiles = 100;
  for (int i = 0; i < kFolders; ++i) {
    auto folder = TemporaryFolder::create();
    ASSERT_TRUE(folder) << folder.error().message;
    const std::filesystem::path path = folder->path();
    for (int file = 0; file < kFiles; ++file) {
      make_file(path / std::to_string(file));
    }
    std::thread other([&] {
      for (int file = 0; file < kFiles; ++file) {
        ::unlink((path / std::to_string(file)).c_str());
      }
    });
    folder->remove();
    other.join();
    ASSERT_FALSE(std::filesystem::exists(path));
  }
}

TEST(TemporaryFolder, RemovingTwiceOrNothingIsNoError) {
  auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder) << folder.error().message;
  std::filesystem::remove_all(folder->path());
  const auto begin = std::chrono::steady_clock::now();
  folder->remove();
  folder->remove();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200)); // it does not wait for what is not there
}

} // namespace
} // namespace farcl::tools
