// Writing a picture, and a bar that shows how far the work is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Writes RGBA pixels as a PNG file; false when that is not possible.
bool write_png(const std::string& path, int width, int rows, const std::vector<std::uint8_t>& pixels);

class ProgressBar {
public:
  explicit ProgressBar(int steps);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// One more step is done; `next` says what comes now.
  void advance(const std::string& next);

private:
  void draw(const std::string& text) const;
  int steps_;
  int done_ = 0;
  bool terminal_;
};
