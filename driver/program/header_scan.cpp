#include "driver/program/header_scan.hpp"

#include "driver/program/build_options.hpp"
#include "driver/program/include_lines.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/protocol/limits.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace farcl::driver {
namespace {

namespace fs = std::filesystem;

/// Source, headers and what else a request holds must fit into one frame.
constexpr std::uint64_t kMaxTextBytes = protocol::kMaxFramePayloadBytes - (1u << 20);

bool lies_in(const fs::path& file, const fs::path& folder) {
  const auto [at, unused] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  (void)unused;
  return at == folder.end();
}

std::optional<std::string> read_regular_file(const fs::path& path) {
  // Canonical, so its last part is no link; a pipe or device must not make the open wait.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts{};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      static_cast<std::uint64_t>(facts.st_size) > protocol::kMaxSourceBytes) {
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

class Scanner {
public:
  Scanner(std::size_t source_bytes, const BuildOptions& options, const std::vector<SourceHeader>& given)
      : folders_(options.include_folders), total_bytes_(source_bytes) {
    std::error_code ignored;
    add_root(fs::current_path(ignored));
    for (const std::string& folder : folders_) {
      add_root(folder);
    }
    for (const BuildOptions::HeaderMacro& macro : options.header_macros) {
      macros_[macro.name].push_back(parse_header_name(macro.value));
    }
    for (const SourceHeader& header : given) {
      known_.insert(fs::path(header.path).lexically_normal());
      total_bytes_ += header.text.size();
    }
  }

  /// `path`: of the file that holds `text`; of the source itself it is a bare name.
  void scan(const fs::path& path, std::string_view text) {
    IncludeLines lines = find_include_lines(text);
    const fs::path folder = path.parent_path();
    for (IncludeLines::Macro& macro : lines.definitions) {
      macros_[macro.name].push_back(std::move(macro.header));
    }
    for (const IncludeLines::Header& header : lines.headers) {
      look_up(folder, header);
    }
    for (std::string& name : lines.macros) {
      wanted_macros_.emplace_back(folder, std::move(name));
    }
  }

  Result<std::vector<SourceHeader>> finish() {
    do {
      while (!queue_.empty() && !too_much()) {
        found_.push_back(std::move(queue_.front()));
        queue_.pop_front();
        scan(found_.back().path, found_.back().text);
      }
      resolve_macros();
    } while (!queue_.empty() && !too_much());
    if (too_much()) {
      return fail(ErrorCode::kLimit, "the source and its headers are more than one build can take (" +
                                         std::to_string(protocol::kMaxHeadersPerBuild) + " headers, " +
                                         std::to_string(kMaxTextBytes >> 20) + " MiB)");
    }
    return std::move(found_);
  }

private:
  [[nodiscard]] bool too_much() const {
    return found_.size() + queue_.size() > protocol::kMaxHeadersPerBuild || total_bytes_ > kMaxTextBytes;
  }

  void add_root(const fs::path& folder) {
    std::error_code error;
    fs::path canonical = fs::canonical(folder, error);
    if (!error) {
      roots_.push_back(std::move(canonical));
    }
  }

  /// In the order in which the compiler looks: beside the including file, in the -I folders, in the working directory.
  void look_up(const fs::path& including_folder, const IncludeLines::Header& header) {
    if (header.name.empty() || header.name.size() > protocol::kMaxPathBytes || header.name.find('\0') != std::string::npos) {
      return;
    }
    if (!header.angled && take(including_folder / header.name)) {
      return;
    }
    const bool in_folders =
        std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) { return take(fs::path(folder) / header.name); });
    if (!in_folders) {
      take(header.name);
    }
  }

  /// True when there is such a header, known before or not.
  bool take(const fs::path& spelled) {
    fs::path path = spelled.lexically_normal();
    if (known_.contains(path)) {
      return true;
    }
    if (path.native().size() > protocol::kMaxPathBytes || too_much()) {
      return false;
    }
    std::error_code error;
    const fs::path canonical = fs::canonical(spelled, error);
    if (error || std::none_of(roots_.begin(), roots_.end(), [&](const fs::path& root) { return lies_in(canonical, root); })) {
      return false;
    }
    std::optional<std::string> text = read_regular_file(canonical);
    if (!text) {
      return false;
    }
    total_bytes_ += text->size();
    queue_.push_back({path.native(), std::move(*text)});
    known_.insert(std::move(path));
    return true;
  }

  void resolve_macros() {
    for (const auto& [folder, name] : wanted_macros_) {
      for (const IncludeLines::Header& header : values_of(name)) {
        look_up(folder, header);
      }
    }
  }

  /// All values that a macro has anywhere; a name may stand for another one.
  std::vector<IncludeLines::Header> values_of(const std::string& name) const {
    std::vector<IncludeLines::Header> values;
    std::set<std::string> visited;
    std::vector<std::string> open = {name};
    while (!open.empty()) {
      const std::string one = std::move(open.back());
      open.pop_back();
      const auto macro = macros_.find(one);
      if (macro == macros_.end() || !visited.insert(one).second) {
        continue;
      }
      for (const IncludeLines::Header& header : macro->second) {
        values.push_back(header);
        open.push_back(header.name);
      }
    }
    return values;
  }

  const std::vector<std::string>& folders_;
  std::vector<fs::path> roots_;
  std::set<fs::path> known_;
  std::map<std::string, std::vector<IncludeLines::Header>> macros_;
  std::vector<std::pair<fs::path, std::string>> wanted_macros_;
  std::deque<SourceHeader> queue_; ///< read, not scanned
  std::vector<SourceHeader> found_;
  std::uint64_t total_bytes_ = 0;
};

} // namespace

Result<std::vector<SourceHeader>> scan_headers(std::string_view source, std::string_view options, const std::vector<SourceHeader>& given) {
  const BuildOptions parsed = read_build_options(options);
  Scanner scanner(source.size(), parsed, given);
  scanner.scan("source.cl", source);
  for (const SourceHeader& header : given) {
    scanner.scan(header.path, header.text);
  }
  return scanner.finish();
}

} // namespace farcl::driver
