#include "daemon/common/options.hpp"

#include "farcl/base/numbers.hpp"
#include "farcl/net/address.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <pwd.h>
#include <unistd.h>

#ifndef FARCL_VERSION
#define FARCL_VERSION "unknown"
#endif

namespace farcl::daemon {

namespace {
namespace fs = std::filesystem;

inline constexpr std::size_t kMaxUnixPathBytes = 107; ///< sockaddr_un's room without its final zero
inline constexpr std::uint32_t kMaxSessions = 4096;
inline constexpr std::uint32_t kMaxSeconds = 7 * 24 * 3600;
inline constexpr std::uint32_t kMaxBuildSeconds = 3600; ///< as farcl-kc has it
inline constexpr std::uint64_t kMinSessionMemoryBytes = 16u << 20;
inline constexpr std::size_t kMaxDevices = 64;
constexpr const char* kCompilerName = "farcl-kc";

tl::unexpected<Error> invalid(std::string message) { return fail(ErrorCode::kInvalid, std::move(message)); }

std::uint64_t default_session_memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
  const auto page_bytes = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L));
  return std::max(pages / 4 * 3 * page_bytes, kMinSessionMemoryBytes);
}

std::string home_folder() {
  if (const char* home = ::secure_getenv("HOME"); home != nullptr && home[0] == '/') {
    return home;
  }
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr && entry->pw_dir != nullptr && entry->pw_dir[0] == '/' ? entry->pw_dir : "";
}

std::string default_cache_folder() {
  if (const char* cache = ::secure_getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') {
    return std::string(cache) + "/farcl";
  }
  if (::geteuid() == 0) {
    return "/var/cache/farcl";
  }
  const std::string home = home_folder();
  return home.empty() ? "" : home + "/.cache/farcl";
}

/// Beside farcld, else in libexec, else in PATH; empty when nowhere.
std::string find_compiler() {
  std::error_code error;
  std::vector<fs::path> candidates;
  if (const fs::path self = fs::read_symlink("/proc/self/exe", error); !error) {
    candidates.push_back(self.parent_path() / kCompilerName);
    candidates.push_back(self.parent_path().parent_path() / "libexec" / "farcl" / kCompilerName);
    candidates.push_back(self.parent_path().parent_path() / "libexec" / kCompilerName);
  }
  if (const char* path = ::secure_getenv("PATH"); path != nullptr) {
    std::string_view rest(path);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end != 0) {
        candidates.push_back(fs::path(rest.substr(0, end)) / kCompilerName);
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  for (const fs::path& candidate : candidates) {
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate.string();
    }
  }
  return {};
}

Status check_devices(std::string_view devices) {
  std::size_t count = 0;
  std::string_view rest = devices;
  do {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (rest.substr(0, end) != "cpu") {
      return invalid("--devices knows 'cpu' only, in a list like cpu,cpu; it does not know '" + std::string(rest.substr(0, end)) + "'");
    }
    ++count;
    if (end == rest.size()) {
      break;
    }
    rest.remove_prefix(end + 1);
  } while (true);
  return count <= kMaxDevices ? Status{} : invalid("--devices takes at most " + std::to_string(kMaxDevices) + " devices");
}

/// What the command line says before it has been understood.
struct Texts {
  std::vector<std::string> listen;
  std::vector<std::string> unix_sockets;
  std::string session_memory;
  std::string log_level; ///< empty: the default
  bool version = false;
  bool help_markdown = false;
};

void define_options(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--listen", texts.listen,
                 "Take connections on this TCP address (may be repeated; port 0: any free one). Without --listen and --unix: "
                 "127.0.0.1:32725 and [::1]:32725")
      ->type_name("ADDR:PORT")
      ->expected(1)
      ->take_all();
  app.add_option("--unix", texts.unix_sockets, "Take connections on this Unix socket (may be repeated; mode 0600 if none is given)")
      ->type_name("PATH[,mode=0660][,group=G]")
      ->expected(1)
      ->take_all();
  app.add_option("--keys", options.keys_file,
                 "Let in over TCP only who has a key of this file, and encrypt (farcl keygen makes keys); SIGHUP reads it again")
      ->type_name("FILE");
  app.add_flag("--insecure", options.insecure,
               "Allow --listen on addresses that other machines can reach, although nothing checks who connects");
  app.add_flag("--stdio", options.stdio, "Serve one session on stdin and stdout (what ssh:// servers start), then exit");
  app.add_flag("--print-ports", options.print_ports,
               "Print one line per address on stdout, as POCL_REMOTE_SERVERS takes it, then the line 'ready'");
  app.add_option("--devices", options.devices, "The devices to offer: cpu, or a list like cpu,cpu")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--max-sessions", options.max_sessions, "Sessions at the same time; one more is refused with a sentence")
      ->type_name("N")
      ->check(CLI::Range(1u, kMaxSessions))
      ->capture_default_str();
  app.add_option("--session-memory", texts.session_memory, "Memory for all buffers of one session; default: 3/4 of the machine's")
      ->type_name("BYTES[K|M|G]");
  app.add_option("--kernel-seconds", options.kernel_seconds, "End a session whose kernel runs longer; 0: never")
      ->type_name("S")
      ->check(CLI::Range(0u, kMaxSeconds))
      ->capture_default_str();
  app.add_option("--resume-seconds", options.resume_seconds, "Keep a session that lost its connection for this long")
      ->type_name("S")
      ->check(CLI::Range(0u, kMaxSeconds))
      ->capture_default_str();
  app.add_option("--build-seconds", options.build_seconds, "End a compilation that takes longer; it is then a failed build")
      ->type_name("S")
      ->check(CLI::Range(1u, kMaxBuildSeconds))
      ->capture_default_str();
  app.add_option("--spin-us", options.spin_us, "How long an idle session's thread looks for work before it sleeps; 0: sleep at once")
      ->type_name("US")
      ->check(CLI::Range(0u, 100'000u))
      ->capture_default_str();
  app.add_option("--cache", options.cache_folder,
                 "Where built programs are kept; default: $XDG_CACHE_HOME/farcl, /var/cache/farcl as root, or ~/.cache/farcl")
      ->type_name("DIR");
  app.add_option("--kc", options.compiler, "The compile service; default: farcl-kc beside farcld, in libexec, or in PATH")
      ->type_name("PATH");
  app.add_option("--log", texts.log_level,
                 "How much to log on stderr: trace, debug, info, warn, error or off; default: info, with --stdio warn")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  app.add_flag("--version", texts.version, "Print the version and exit");
  app.add_flag("--help-markdown", texts.help_markdown)->group(""); // makes the table in docs/operators.md
}

/// The options as a Markdown table, from the same definitions.
std::string markdown_table(const CLI::App& app) {
  std::string table = "| option | meaning | default |\n|---|---|---|\n";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option->get_name() == "--help") {
      continue;
    }
    const std::string type = option->get_items_expected_max() == 0 ? "" : " " + option->get_type_name();
    std::string meaning = option->get_description();
    std::string shown_type = type;
    for (std::size_t at = shown_type.find('|'); at != std::string::npos; at = shown_type.find('|', at + 2)) {
      shown_type.insert(at, 1, '\\');
    }
    table += "| `" + option->get_name() + shown_type + "` | " + meaning + " | " +
             (option->get_default_str().empty() ? "" : "`" + option->get_default_str() + "`") + " |\n";
  }
  return table;
}

Status understand(const Texts& texts, Options& options) {
  for (const std::string& text : texts.listen) {
    auto address = parse_listen_address(text);
    if (!address) {
      return pass_on(std::move(address));
    }
    options.listen.push_back(std::move(*address));
  }
  for (const std::string& text : texts.unix_sockets) {
    auto address = parse_unix_address(text);
    if (!address) {
      return pass_on(std::move(address));
    }
    options.unix_sockets.push_back(std::move(*address));
  }
  if (options.stdio && (!options.listen.empty() || !options.unix_sockets.empty())) {
    return invalid("--stdio serves one session on stdin and stdout; it cannot be combined with --listen or --unix");
  }
  if (!options.stdio && options.listen.empty() && options.unix_sockets.empty()) {
    options.listen = {{"127.0.0.1", net::kDefaultPort}, {"::1", net::kDefaultPort}};
    options.default_listen = true;
  }
  if (options.insecure && !options.keys_file.empty()) {
    return invalid("--insecure lets everybody in, --keys only who has a key; choose one of them");
  }
  if (options.stdio && !options.keys_file.empty()) {
    return invalid("--stdio serves whom ssh has let in; it takes no --keys");
  }
  options.session_memory_bytes = default_session_memory();
  if (!texts.session_memory.empty()) {
    auto bytes = parse_bytes(texts.session_memory);
    if (!bytes) {
      return fail(ErrorCode::kInvalid, "--session-memory: " + bytes.error().message);
    }
    if (*bytes < kMinSessionMemoryBytes) {
      return invalid("--session-memory: at least 16M are needed");
    }
    options.session_memory_bytes = *bytes;
  }
  if (options.cache_folder.empty()) {
    options.cache_folder = default_cache_folder();
  }
  if (options.cache_folder.empty()) {
    return invalid("there is no home folder to keep built programs in; say where with --cache DIR");
  }
  if (options.compiler.empty()) {
    options.compiler = find_compiler();
  } else if (::access(options.compiler.c_str(), X_OK) != 0) {
    return invalid("--kc: '" + options.compiler + "' is not a program that can be run");
  }
  // With --stdio the log is what the user of an ssh:// server sees on his terminal.
  options.log_level = parse_log_level(texts.log_level, options.stdio ? LogLevel::kWarn : LogLevel::kInfo);
  return check_devices(options.devices);
}

std::string first_line(std::string text) { return text.substr(0, text.find('\n')); }
} // namespace

protocol::SessionLimits Options::session_limits() const {
  protocol::SessionLimits limits;
  limits.memory_bytes = session_memory_bytes;
  limits.build_seconds = build_seconds;
  limits.resume_seconds = stdio ? 0 : resume_seconds;
  return limits;
}

Result<net::TcpListenAddress> parse_listen_address(std::string_view text) {
  net::TcpListenAddress address;
  address.port = net::kDefaultPort;
  const std::string quoted = "'" + std::string(text) + "'";
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || (end + 1 < text.size() && text[end + 1] != ':')) {
      return invalid("--listen: " + quoted + " is not an address like [::1]:32725");
    }
    address.host = text.substr(1, end - 1);
    port = text.substr(std::min(end + 1, text.size()));
  } else {
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos && text.find(':') != colon) {
      return invalid("--listen: write an IPv6 address in brackets, [" + std::string(text) + "]:32725");
    }
    address.host = text.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (!port.empty() && !parse_number(port.substr(1), address.port)) {
    return invalid("--listen: the port in " + quoted + " is not a number from 0 to 65535");
  }
  if (address.host.empty()) {
    if (port.empty() || text.starts_with('[')) {
      return invalid("--listen: " + quoted + " names no address");
    }
    address.host = "::"; // ":32725": everywhere, IPv4 included
  }
  return address;
}

Result<net::UnixListenAddress> parse_unix_address(std::string_view text) {
  net::UnixListenAddress address;
  std::string_view rest = text;
  // From the end, so that a comma in the path is no problem unless a setting follows it.
  while (true) {
    const std::size_t comma = rest.rfind(',');
    const std::string_view setting = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (setting.starts_with("mode=")) {
      if (!parse_number(setting.substr(5), address.mode, 8) || address.mode > 0777) {
        return invalid("--unix: '" + std::string(setting) + "' is not a mode like mode=0660");
      }
    } else if (setting.starts_with("group=") && setting.size() > 6) {
      address.group = setting.substr(6);
    } else {
      break;
    }
    rest = rest.substr(0, comma);
  }
  if (rest.empty()) {
    return invalid("--unix: '" + std::string(text) + "' names no path");
  }
  std::error_code error;
  address.path = fs::absolute(fs::path(rest), error).string();
  if (error || address.path.size() > kMaxUnixPathBytes) {
    return invalid("--unix: the path '" + std::string(rest) + "' is longer than the " + std::to_string(kMaxUnixPathBytes) +
                   " bytes that a Unix socket can have");
  }
  return address;
}

std::string to_text(const net::TcpListenAddress& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

Result<ParsedOptions> parse_options(int argc, const char* const* argv) {
  ParsedOptions parsed;
  Texts texts;
  CLI::App app("farcld lets other programs and machines use this machine's OpenCL devices.", "farcld");
  try {
    define_options(app, parsed.options, texts);
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    parsed.text = app.help();
    return parsed;
  } catch (const CLI::ParseError& error) {
    return invalid(first_line(error.what()) + " (farcld --help says more)");
  }
  if (texts.version) {
    parsed.text = "farcld " FARCL_VERSION "\n";
    return parsed;
  }
  if (texts.help_markdown) {
    parsed.text = markdown_table(app);
    return parsed;
  }
  if (auto status = understand(texts, parsed.options); !status) {
    return pass_on(std::move(status));
  }
  return parsed;
}

} // namespace farcl::daemon
