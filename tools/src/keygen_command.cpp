// farcl keygen: makes a key, and says what to do with it.
#include "commands.hpp"
#include "farcl/base/numbers.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/net/keys.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

namespace farcl::tools {

namespace {
struct KeygenOptions {
  std::string name = "key";
  std::string file; ///< empty: NAME.key
  std::vector<std::string> servers;
  std::string expires;
  std::string memory;
  std::uint32_t sessions = 0;
};

int complain(const std::string& sentence, int code) {
  std::fprintf(stderr, "farcl keygen: %s\n", sentence.c_str());
  return code;
}

/// What was asked for, through the same rules that read it again later.
Result<net::Key> make_key(const KeygenOptions& options) {
  if (!net::is_key_name(options.name)) {
    return fail(ErrorCode::kInvalid, "--name takes letters, digits and . _ - @");
  }
  auto key = net::make_key(options.name);
  if (!key) {
    return key;
  }
  std::string line = net::to_line(*key);
  std::string servers;
  for (const std::string& one : options.servers) {
    servers += (servers.empty() ? " servers=" : ",") + one;
  }
  line += servers;
  line += options.expires.empty() ? "" : " expires=" + options.expires;
  line += options.memory.empty() ? "" : " memory=" + options.memory;
  line += options.sessions == 0 ? "" : " sessions=" + std::to_string(options.sessions);
  return net::parse_key_line(line);
}

/// A new file that nobody else can read from its first byte on. Never replaces one: it may hold the only copy of a key.
Status write_new_file(const std::string& path, const std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) {
    return errno == EEXIST ? Status(fail(ErrorCode::kInvalid, path + " exists; name another file with --out, and append it to that one"))
                           : Status(fail_errno(errno, "cannot make " + path));
  }
  const bool written =
      ::fchmod(file.get(), 0600) == 0 && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return written && ::fsync(file.get()) == 0 ? Status{} : Status(fail_errno(errno, "cannot write " + path));
}

void say_what_to_do(const net::Key& key, const std::string& path) {
  std::printf("The key '%s' is in %s. Whoever has it can use the server; copy it by ssh or on paper, not by mail.\n\n", key.name.c_str(),
              path.c_str());
  std::printf("On the server:  farcld --keys %s --listen 0.0.0.0:32725\n", path.c_str());
  std::printf("                (or append its line to the file that --keys names, and send farcld a SIGHUP)\n");
  std::printf("On the client:  mkdir -p ~/.config/farcl && cat %s >> ~/.config/farcl/keys && chmod 600 ~/.config/farcl/keys\n",
              path.c_str());
  std::printf("                (or FARCL_KEY_FILE=%s), then POCL_REMOTE_SERVERS=SERVER farcl list\n", path.c_str());
}

int keygen(const KeygenOptions& options) {
  auto key = make_key(options);
  if (!key) {
    return complain(key.error().message, kExitUsage);
  }
  const std::string path = options.file.empty() ? options.name + ".key" : options.file;
  if (auto status = write_new_file(path, net::to_line(*key) + "\n"); !status) {
    return complain(status.error().message, kExitFailure);
  }
  say_what_to_do(*key, path);
  return 0;
}
} // namespace

void add_keygen_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<KeygenOptions>();
  CLI::App* command = app.add_subcommand("keygen", "Make a key for a server that other machines may use");
  command->add_option("--name", options->name, "Who it is for; the server's log names it")->capture_default_str();
  command->add_option("--out", options->file, "The file to make (default: NAME.key)");
  command->add_option("--servers", options->servers, "For clients: use it for these servers only, HOST or HOST:PORT, * for anything")
      ->delimiter(',');
  command->add_option("--expires", options->expires, "For the server: the last day on which it is good, 2027-01-31");
  command->add_option("--sessions", options->sessions, "For the server: how many sessions it may have at the same time");
  command->add_option("--memory", options->memory, "For the server: memory of each of its sessions, like 8G");
  command->callback([options, &exit_code] { exit_code = keygen(*options); });
}

} // namespace farcl::tools
