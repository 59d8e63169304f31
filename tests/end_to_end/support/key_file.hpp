// A file of keys of a test's own, made by farcl keygen.
#pragma once

#include "private_server.hpp"

#include <string>
#include <vector>

namespace farcl::end_to_end {

class KeyFile {
public:
  /// With one key; `options`: further words for farcl keygen.
  explicit KeyFile(const std::string& name = "alice", const std::vector<std::string>& options = {});

  [[nodiscard]] std::string path() const { return (folder_.path() / "keys").string(); }
  /// What farcl keygen said.
  [[nodiscard]] const std::string& advice() const { return advice_; }
  /// Other keys instead.
  void replace_by(const KeyFile& other) const;

private:
  TestFolder folder_;
  std::string advice_;
};

} // namespace farcl::end_to_end
