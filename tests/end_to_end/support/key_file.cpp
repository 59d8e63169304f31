#include "key_file.hpp"

#include "child_program.hpp"

#include <filesystem>
#include <stdexcept>

namespace farcl::end_to_end {

KeyFile::KeyFile(const std::string& name, const std::vector<std::string>& options) {
  std::vector<std::string> command{FARCL_COMMAND_PATH, "keygen", "--name", name, "--out", path()};
  command.insert(command.end(), options.begin(), options.end());
  const ProgramEnd end = run_program(command, "", std::chrono::seconds(10));
  if (end.exit_code != 0) {
    throw std::runtime_error("no key: " + end.out + end.err);
  }
  advice_ = end.out;
}

void KeyFile::replace_by(const KeyFile& other) const {
  std::filesystem::copy_file(other.path(), path(), std::filesystem::copy_options::overwrite_existing);
}

} // namespace farcl::end_to_end
