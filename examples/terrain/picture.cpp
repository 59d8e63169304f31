#include "picture.hpp"

#include <cstdio>
#include <png.h>
#include <unistd.h>

bool write_png(const std::string& path, int width, int rows, const std::vector<std::uint8_t>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(rows);
  image.format = PNG_FORMAT_RGBA;
  return png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) != 0;
}

ProgressBar::ProgressBar(int steps) : steps_(steps), terminal_(::isatty(STDOUT_FILENO) == 1) {}

ProgressBar::~ProgressBar() { std::printf("\n"); }

void ProgressBar::advance(const std::string& next) {
  ++done_;
  // A file or a pipe gets a few lines instead of one that is painted over.
  if (terminal_ || done_ == steps_ || done_ % (steps_ / 4) == 0) {
    draw(next);
  }
}

void ProgressBar::draw(const std::string& text) const {
  constexpr int kWidth = 40;
  const int filled = kWidth * done_ / steps_;
  std::printf("%s[%s%s] %3d %%  %-28s%s", terminal_ ? "\r" : "", std::string(static_cast<std::size_t>(filled), '#').c_str(),
              std::string(static_cast<std::size_t>(kWidth - filled), '.').c_str(), 100 * done_ / steps_, text.c_str(),
              terminal_ || done_ == steps_ ? "" : "\n");
  std::fflush(stdout);
}
