#include "driver/session/flush_forecast.hpp"

#include <gtest/gtest.h>

namespace farcl::driver {
namespace {

using std::chrono::microseconds;

struct Program {
  FlushForecast forecast;
  FlushForecast::Clock::time_point now{std::chrono::seconds(1)};

  void launch_and_wait(microseconds between) {
    forecast.first_command(now);
    now += between;
    forecast.flushed(now);
    now += microseconds(10);
  }
  void launch_and_wait_often() {
    for (unsigned i = 0; i < FlushForecast::kTrust; ++i) {
      EXPECT_FALSE(forecast.expects_flush());
      launch_and_wait(microseconds(1));
    }
    EXPECT_TRUE(forecast.expects_flush());
  }
};

TEST(FlushForecast, TrustsAProgramThatWaitsAtOnce) {
  Program program;
  program.launch_and_wait_often();
  program.launch_and_wait(FlushForecast::kSoon);
  EXPECT_TRUE(program.forecast.expects_flush());
}

TEST(FlushForecast, AProgramThatGoesOnIsNotTrusted) {
  Program program;
  for (unsigned i = 0; i < 20; ++i) {
    program.launch_and_wait(microseconds(1));
    program.launch_and_wait(microseconds(30));
    EXPECT_FALSE(program.forecast.expects_flush());
  }
}

TEST(FlushForecast, OneLateFlushEndsTheTrust) {
  Program program;
  program.launch_and_wait_often();
  program.launch_and_wait(FlushForecast::kSoon + microseconds(1));
  EXPECT_FALSE(program.forecast.expects_flush());
}

TEST(FlushForecast, SoDoesAFlushThatDidNotCome) {
  Program program;
  program.launch_and_wait_often();
  program.forecast.missed(); // nothing was left to a flush
  EXPECT_TRUE(program.forecast.expects_flush());
  program.forecast.first_command(program.now);
  program.forecast.missed();
  EXPECT_FALSE(program.forecast.expects_flush());
}

TEST(FlushForecast, FlushesWithoutAFirstCommandSayNothing) {
  Program program;
  for (unsigned i = 0; i < 20; ++i) {
    program.forecast.flushed(program.now);
  }
  EXPECT_FALSE(program.forecast.expects_flush());
}

} // namespace
} // namespace farcl::driver
