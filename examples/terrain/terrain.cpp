// terrain: paints a landscape on an OpenCL device and checks every pixel against the host.
//
// Noise is uploaded, blurred with five Gaussians (local memory, barriers), summed up, its range is found by a reduction
// (barriers in a loop), and the result is lit and coloured. Nothing in here knows whether the device is in this machine.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include "host_terrain.hpp"
#include "picture.hpp"
#include "terrain_source.hpp"

#include <CL/opencl.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace {
constexpr int kWidth = 960;
constexpr int kRows = 640;
constexpr int kBands = 32; ///< the picture is painted in so many pieces, so that the bar moves
constexpr std::size_t kRowGroup = 64;
constexpr std::size_t kBlock = 16;
constexpr std::size_t kRangeGroup = 64;
constexpr float kHeightTolerance = 1e-4F; ///< of the whole range: float sums in another order
constexpr int kColourTolerance = 2;       ///< of 255

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::size_t round_up(int value, std::size_t multiple) { return (static_cast<std::size_t>(value) + multiple - 1) / multiple * multiple; }

// The first device of a platform whose name contains `wanted`; any platform if that is empty.
cl::Device choose_device(const std::string& wanted) {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    if (platform.getInfo<CL_PLATFORM_NAME>().find(wanted) != std::string::npos) {
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    }
    if (!devices.empty()) {
      return devices.front();
    }
  }
  throw cl::Error(CL_DEVICE_NOT_FOUND, "looking for a device");
}

cl::Program build(const cl::Context& context) {
  cl::Program program(context, kTerrainSource);
  try {
    program.build("-cl-std=CL1.2");
  } catch (const cl::BuildError& error) {
    for (const auto& [device, log] : error.getBuildLog()) {
      std::cerr << log << "\n";
    }
    throw;
  }
  return program;
}

class DeviceTerrain {
public:
  explicit DeviceTerrain(const cl::Device& device) : context_(device), queue_(context_, device), program_(build(context_)) {}

  Terrain compute(const std::vector<float>& noise, const std::vector<Octave>& octaves, ProgressBar& bar) {
    const std::size_t bytes = noise.size() * sizeof(float);
    noise_ = cl::Buffer(context_, CL_MEM_READ_ONLY, bytes);
    blurred_ = cl::Buffer(context_, CL_MEM_READ_WRITE, bytes);
    heights_ = cl::Buffer(context_, CL_MEM_READ_WRITE, bytes);
    range_ = cl::Buffer(context_, CL_MEM_READ_WRITE, sizeof(cl_float2));
    pixels_ = cl::Buffer(context_, CL_MEM_WRITE_ONLY, noise.size() * 4);
    queue_.enqueueWriteBuffer(noise_, CL_FALSE, 0, bytes, noise.data());
    queue_.enqueueFillBuffer(heights_, 0.0F, 0, bytes);
    for (const Octave& octave : octaves) {
      add_octave(octave);
      bar.advance("hills " + std::to_string(static_cast<int>(octave.sigma)) + " pixels wide");
    }
    find_range(static_cast<int>(noise.size()));
    bar.advance("light and shadow");
    paint(bar);
    return read_back(noise.size());
  }

private:
  void add_octave(const Octave& octave) {
    const int radius = octave.radius();
    const std::size_t reach = 2 * static_cast<std::size_t>(radius);
    const cl::Buffer weights(context_, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, octave.weights.size() * sizeof(float),
                             const_cast<float*>(octave.weights.data()));
    cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, int, int, cl::LocalSpaceArg> blur_rows(program_, "blur_rows");
    blur_rows(cl::EnqueueArgs(queue_, cl::NDRange(round_up(kWidth, kRowGroup), kRows), cl::NDRange(kRowGroup, 1)), noise_, blurred_,
              weights, radius, kWidth, cl::Local((kRowGroup + reach) * sizeof(float)));
    cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, int, int, int, float, cl::LocalSpaceArg> blur_columns(program_,
                                                                                                                "blur_columns_and_add");
    blur_columns(cl::EnqueueArgs(queue_, cl::NDRange(round_up(kWidth, kBlock), round_up(kRows, kBlock)), cl::NDRange(kBlock, kBlock)),
                 blurred_, heights_, weights, radius, kWidth, kRows, octave.amplitude,
                 cl::Local((kBlock + reach) * kBlock * sizeof(float)));
    queue_.finish();
  }

  void find_range(int count) {
    cl::KernelFunctor<cl::Buffer, int, cl::Buffer, cl::LocalSpaceArg> kernel(program_, "find_range");
    kernel(cl::EnqueueArgs(queue_, cl::NDRange(kRangeGroup), cl::NDRange(kRangeGroup)), heights_, count, range_,
           cl::Local(kRangeGroup * sizeof(cl_float2)));
    queue_.finish();
  }

  void paint(ProgressBar& bar) {
    cl::KernelFunctor<cl::Buffer, cl::Buffer, cl::Buffer, int, int> kernel(program_, "paint");
    for (int band = 0; band < kBands; ++band) {
      const cl::NDRange offset(0, static_cast<std::size_t>(kRows / kBands * band));
      kernel(cl::EnqueueArgs(queue_, offset, cl::NDRange(kWidth, kRows / kBands), cl::NullRange), heights_, range_, pixels_, kWidth, kRows);
      queue_.finish();
      bar.advance(band + 1 < kBands ? "light and shadow" : "done");
    }
  }

  Terrain read_back(std::size_t count) {
    Terrain terrain{kWidth, kRows, std::vector<float>(count), 0, 0, std::vector<std::uint8_t>(count * 4)};
    cl_float2 range{};
    queue_.enqueueReadBuffer(heights_, CL_FALSE, 0, count * sizeof(float), terrain.heights.data());
    queue_.enqueueReadBuffer(range_, CL_FALSE, 0, sizeof range, &range);
    queue_.enqueueReadBuffer(pixels_, CL_FALSE, 0, count * 4, terrain.pixels.data());
    queue_.finish();
    terrain.lowest = range.s[0];
    terrain.highest = range.s[1];
    return terrain;
  }

  cl::Context context_;
  cl::CommandQueue queue_;
  cl::Program program_;
  cl::Buffer noise_, blurred_, heights_, range_, pixels_;
};

// Every height and every pixel. False, with a sentence, when one is wrong.
bool agrees_with_host(const Terrain& device, const Terrain& host) {
  const float tolerance = kHeightTolerance * (host.highest - host.lowest);
  float worst_height = std::max(std::abs(device.lowest - host.lowest), std::abs(device.highest - host.highest));
  for (std::size_t i = 0; i < host.heights.size(); ++i) {
    const float difference = std::abs(device.heights[i] - host.heights[i]);
    worst_height = difference <= worst_height ? worst_height : difference; // a NaN ends up here, too
  }
  int worst_colour = 0;
  for (std::size_t i = 0; i < host.pixels.size(); ++i) {
    worst_colour = std::max(worst_colour, std::abs(int{device.pixels[i]} - int{host.pixels[i]}));
  }
  const bool right = worst_height <= tolerance && worst_colour <= kColourTolerance;
  std::printf("check against the host: %zu heights and %zu pixels, largest difference %.1e of the range and %d of 255: %s\n",
              host.heights.size(), host.pixels.size() / 4, worst_height / (host.highest - host.lowest), worst_colour,
              right ? "right" : "WRONG");
  return right;
}

int run(const std::string& path, const std::string& platform, unsigned long long seed) {
  const cl::Device device = choose_device(platform);
  std::printf("device: %s (%s)\n", device.getInfo<CL_DEVICE_NAME>().c_str(),
              cl::Platform(device.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>().c_str());
  const std::vector<Octave> octaves = make_octaves();
  const std::vector<float> noise = make_noise(kWidth, kRows, seed);
  const auto begin = Clock::now();
  Terrain terrain;
  {
    DeviceTerrain computation(device);
    ProgressBar bar(static_cast<int>(octaves.size()) + 1 + kBands);
    terrain = computation.compute(noise, octaves, bar);
  }
  std::printf("built, uploaded, computed and read back in %.2f s\n", seconds_since(begin));
  if (!agrees_with_host(terrain, compute_on_host(noise, octaves, kWidth, kRows))) {
    return 1;
  }
  if (!write_png(path, kWidth, kRows, terrain.pixels)) {
    std::fprintf(stderr, "terrain: cannot write %s\n", path.c_str());
    return 1;
  }
  std::printf("the picture is in %s\n", path.c_str());
  return 0;
}
} // namespace

int main(int argc, char** argv) {
  if (argc > 4 || (argc > 1 && argv[1][0] == '-')) {
    std::fprintf(stderr, "usage: terrain [PICTURE.png [PLATFORM [SEED]]]\n");
    return 2;
  }
  try {
    return run(argc > 1 ? argv[1] : "terrain.png", argc > 2 ? argv[2] : "", argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 7);
  } catch (const cl::Error& error) {
    std::fprintf(stderr, "terrain: %s failed with %d\n", error.what(), error.err());
    return 1;
  }
}
