#include "host_terrain.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace {
constexpr float kSeaLevel = 0.46F;
constexpr int kShadowSteps = 60;
constexpr float kSunSlope = 0.0036F;

using Colour = std::array<float, 3>;

Colour mix(const Colour& a, const Colour& b, float t) {
  return {a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t};
}

void blur_rows(const std::vector<float>& in, std::vector<float>& out, const Octave& octave, int width, int rows) {
  const int radius = octave.radius();
  std::vector<float> line(static_cast<std::size_t>(width + 2 * radius));
  for (int y = 0; y < rows; ++y) {
    for (int i = 0; i < width + 2 * radius; ++i) {
      line[i] = in[y * width + (i - radius + width) % width];
    }
    for (int x = 0; x < width; ++x) {
      out[y * width + x] = 0;
    }
    for (int i = 0; i <= 2 * radius; ++i) {
      for (int x = 0; x < width; ++x) {
        out[y * width + x] += octave.weights[i] * line[x + i];
      }
    }
  }
}

void blur_columns_and_add(const std::vector<float>& in, std::vector<float>& heights, const Octave& octave, int width, int rows) {
  const int radius = octave.radius();
  std::vector<float> sums(static_cast<std::size_t>(width));
  for (int y = 0; y < rows; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (int i = 0; i <= 2 * radius; ++i) {
      const float* row = &in[((y - radius + i + rows) % rows) * width];
      for (int x = 0; x < width; ++x) {
        sums[x] += octave.weights[i] * row[x];
      }
    }
    for (int x = 0; x < width; ++x) {
      heights[y * width + x] += octave.amplitude * sums[x];
    }
  }
}

class Painter {
public:
  explicit Painter(Terrain& terrain) : terrain_(terrain) {}

  void paint(int x, int y) {
    const float here = elevation(x, y);
    const float light = illumination(x, y) * (1 - 0.45F * shadow(x, y, std::max(here, kSeaLevel)));
    const float depth = std::clamp((kSeaLevel - here) * 4.5F, 0.0F, 1.0F);
    const Colour water = mix({82, 166, 184}, {14, 50, 104}, std::sqrt(depth));
    const float shore = std::clamp((here - kSeaLevel) * 300 + 0.5F, 0.0F, 1.0F);
    const Colour colour = mix(water, land_colour((here - kSeaLevel) / (1 - kSeaLevel)), shore);
    std::uint8_t* pixel = &terrain_.pixels[4 * static_cast<std::size_t>(y * terrain_.width + x)];
    for (int i = 0; i < 3; ++i) {
      pixel[i] = static_cast<std::uint8_t>(std::nearbyint(std::clamp(colour[i] * light, 0.0F, 255.0F)));
    }
    pixel[3] = 255;
  }

private:
  [[nodiscard]] float elevation(int x, int y) const {
    x = (x + terrain_.width) % terrain_.width;
    y = (y + terrain_.rows) % terrain_.rows;
    return (terrain_.heights[y * terrain_.width + x] - terrain_.lowest) / (terrain_.highest - terrain_.lowest);
  }
  [[nodiscard]] float surface(int x, int y) const { return std::max(elevation(x, y), kSeaLevel); }

  [[nodiscard]] float illumination(int x, int y) const {
    const float across = (surface(x - 1, y) - surface(x + 1, y)) * 60;
    const float down = (surface(x, y - 1) - surface(x, y + 1)) * 60;
    const float sun = std::sqrt(1 + 1 + 1.3F * 1.3F);
    const float cosine = (-across - down + 1.3F) / (sun * std::sqrt(across * across + down * down + 1));
    return 0.34F + 1.05F * std::max(cosine, 0.0F);
  }

  [[nodiscard]] float shadow(int x, int y, float ground) const {
    float worst = 0;
    for (int i = 1; i < kShadowSteps; ++i) {
      worst = std::max(worst, surface(x - i, y - i) - (ground + kSunSlope * static_cast<float>(i)));
    }
    return std::clamp(worst * 50, 0.0F, 1.0F);
  }

  static Colour land_colour(float above) {
    static constexpr std::array<Colour, 6> kLand = {Colour{214, 196, 146}, {128, 158, 84},  {62, 112, 58},
                                                    {96, 98, 74},          {138, 126, 114}, {246, 248, 252}};
    const float at = std::clamp(above, 0.0F, 0.9999F) * 5;
    const auto band = static_cast<std::size_t>(at);
    return mix(kLand[band], kLand[band + 1], at - static_cast<float>(band));
  }

  Terrain& terrain_;
};
} // namespace

// Hills of five sizes; the smaller ones are lower, which makes the land look natural.
std::vector<Octave> make_octaves() {
  std::vector<Octave> octaves;
  for (float sigma : {42.0F, 21.0F, 10.5F, 5.2F, 2.6F}) {
    Octave octave{sigma, std::pow(sigma, 1.9F) / 1000, {}};
    const int radius = static_cast<int>(3 * sigma);
    float sum = 0;
    for (int i = -radius; i <= radius; ++i) {
      octave.weights.push_back(std::exp(-0.5F * static_cast<float>(i * i) / (sigma * sigma)));
      sum += octave.weights.back();
    }
    for (float& weight : octave.weights) {
      weight /= sum;
    }
    octaves.push_back(std::move(octave));
  }
  return octaves;
}

std::vector<float> make_noise(int width, int rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> noise(static_cast<std::size_t>(width) * static_cast<std::size_t>(rows));
  for (float& value : noise) {
    value = static_cast<float>(random() >> 40) / static_cast<float>(1 << 24) - 0.5F;
  }
  return noise;
}

Terrain compute_on_host(const std::vector<float>& noise, const std::vector<Octave>& octaves, int width, int rows) {
  Terrain terrain{width, rows, std::vector<float>(noise.size(), 0.0F), 0, 0, std::vector<std::uint8_t>(noise.size() * 4)};
  std::vector<float> blurred(noise.size());
  for (const Octave& octave : octaves) {
    blur_rows(noise, blurred, octave, width, rows);
    blur_columns_and_add(blurred, terrain.heights, octave, width, rows);
  }
  const auto [lowest, highest] = std::minmax_element(terrain.heights.begin(), terrain.heights.end());
  terrain.lowest = *lowest;
  terrain.highest = *highest;
  Painter painter(terrain);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < width; ++x) {
      painter.paint(x, y);
    }
  }
  return terrain;
}
