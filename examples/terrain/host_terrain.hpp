// The same terrain, computed on the host in plain C++: what the device's results are compared with.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

struct Octave {
  float sigma = 0;            ///< of the Gaussian, in pixels
  float amplitude = 0;        ///< what the blurred noise is multiplied by
  std::vector<float> weights; ///< 2 * radius + 1 of them

  [[nodiscard]] int radius() const { return static_cast<int>(weights.size() / 2); }
};

struct Terrain {
  int width = 0;
  int rows = 0;
  std::vector<float> heights;
  float lowest = 0;
  float highest = 0;
  std::vector<std::uint8_t> pixels; ///< RGBA
};

std::vector<Octave> make_octaves();
std::vector<float> make_noise(int width, int rows, std::uint64_t seed);
Terrain compute_on_host(const std::vector<float>& noise, const std::vector<Octave>& octaves, int width, int rows);
