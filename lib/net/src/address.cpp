#include "farcl/net/address.hpp"

#include "name_rules.hpp"
#include "words.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

namespace farcl::net {

namespace {
constexpr std::size_t kMaxHostfileBytes = 1u << 20;
constexpr std::size_t kMaxAddressBytes = 4096;
constexpr std::size_t kQuotedBytes = 80; ///< of an entry, in a complaint about it
constexpr std::string_view kSpaces = " \t\r\n\v\f";

std::string quoted(std::string_view text) {
  std::string out = "'";
  out.append(text.substr(0, kQuotedBytes)).append(text.size() > kQuotedBytes ? "...'" : "'");
  return out;
}
tl::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalid, "the server address " + quoted(text) + " is not understood: " + std::string(why));
}
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}
/// Cuts `text` at the last `mark` and returns what stood behind it.
std::optional<std::string_view> take_suffix(std::string_view& text, char mark) {
  const auto at = text.rfind(mark);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto suffix = text.substr(at + 1);
  text = text.substr(0, at);
  return suffix;
}
template <class Integer>
bool parse_number(std::string_view text, Integer minimum, Integer& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= minimum;
}

/// host, host:port, [v6], [v6]:port. Returns what is wrong, nothing if all is well; the port stays if none is named.
std::string_view parse_host_port(std::string_view text, std::string& host, std::uint16_t& port) {
  if (take_prefix(text, "[")) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) {
      return "the bracket is not closed";
    }
    host = text.substr(0, close);
    text.remove_prefix(close + 1);
    if (!is_safe_v6_text(host)) {
      return "what stands in brackets is no IPv6 address";
    }
    if (text.empty()) {
      return {};
    }
    if (!take_prefix(text, ":")) {
      return "behind the bracket only a port may follow";
    }
  } else {
    const auto colon = text.find(':');
    if (colon != text.rfind(':')) {
      return "IPv6 addresses need brackets, as in [::1]:32725";
    }
    host = text.substr(0, colon);
    if (!is_safe_host_name(host)) {
      return "a host name has letters, digits, '-', '.' and '_', and does not begin with '-'";
    }
    if (colon == std::string_view::npos) {
      return {};
    }
    text.remove_prefix(colon + 1);
  }
  return parse_number<std::uint16_t>(text, 1, port) ? std::string_view{} : "a port is a number from 1 to 65535";
}

Result<ServerAddress> parse_unix(std::string_view path, std::string_view whole) {
  if (path.empty() || path.front() != '/' || path.size() > kMaxUnixPathBytes || path.find('\0') != std::string_view::npos) {
    return bad(whole, "unix: wants an absolute path of at most " + std::to_string(kMaxUnixPathBytes) + " bytes");
  }
  ServerAddress address;
  address.scheme = Scheme::kUnix;
  address.port = 0;
  address.path = path;
  address.text = whole;
  return address;
}

Result<ServerAddress> parse_network(std::string_view text, std::string_view whole, Scheme scheme) {
  ServerAddress address;
  address.scheme = scheme;
  address.port = scheme == Scheme::kSsh ? 0 : kDefaultPort;
  address.text = whole;
  if (const auto peer = take_suffix(text, '#')) {
    address.peer_port = kDefaultPort;
    if (const auto wrong = parse_host_port(*peer, address.peer_host, address.peer_port); !wrong.empty()) {
      return bad(whole, wrong);
    }
  }
  if (const auto device = take_suffix(text, '/')) {
    if (!parse_number<std::uint32_t>(*device, 0, address.device.emplace())) {
      return bad(whole, "behind '/' stands the number of a device");
    }
  }
  if (scheme == Scheme::kSsh) {
    if (const auto at = text.find('@'); at != std::string_view::npos) {
      address.user = text.substr(0, at);
      text.remove_prefix(at + 1);
      if (!is_safe_user_name(address.user)) {
        return bad(whole, "a user name has letters, digits, '-', '.' and '_', and does not begin with '-'");
      }
    }
  }
  if (const auto wrong = parse_host_port(text, address.host, address.port); !wrong.empty()) {
    return bad(whole, wrong);
  }
  return address;
}

void add_entry(ServerList& list, std::string_view entry) {
  if (list.servers.size() >= kMaxServers) {
    if (list.complaints.empty() || list.complaints.back().find("more than") == std::string::npos) {
      list.complaints.push_back("more than " + std::to_string(kMaxServers) + " servers are named; the others are not used");
    }
    return;
  }
  auto address = parse_server_address(entry);
  if (address) {
    list.servers.push_back(std::move(*address));
  } else if (list.complaints.size() < kMaxServers) {
    list.complaints.push_back(std::move(address).error().message);
  }
}

void add_hostfile(ServerList& list, const std::string& path) {
  std::ifstream file(path);
  std::string text(kMaxHostfileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.gcount() == 0 && !file.eof())) {
    list.complaints.push_back("the file " + quoted(path) + " with server names cannot be read");
    return;
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxHostfileBytes) {
    list.complaints.push_back("the file " + quoted(path) + " with server names is larger than 1 MiB");
    return;
  }
  for_each_word(text, "\n", [&](std::string_view line) {
    // A comment starts at the beginning of a word; inside one, '#' names the peer address.
    bool comment = false;
    for_each_word(line, kSpaces, [&](std::string_view word) {
      comment = comment || word.front() == '#';
      if (!comment) {
        add_entry(list, word);
      }
    });
  });
}
} // namespace

Result<ServerAddress> parse_server_address(std::string_view text) {
  if (text.empty() || text.size() > kMaxAddressBytes) {
    return bad(text, text.empty() ? "it is empty" : "it is too long");
  }
  std::string_view rest = text;
  if (take_prefix(rest, "unix:")) {
    return parse_unix(rest, text);
  }
  if (take_prefix(rest, "ssh://")) {
    return parse_network(rest, text, Scheme::kSsh);
  }
  if (text == "auto" || text == "slurm" || text.substr(0, 7) == "rdma://") {
    return fail(ErrorCode::kUnsupported,
                "the server address " + quoted(text) + " is understood, but this version of FarCL cannot use it yet");
  }
  if (text.find("://") != std::string_view::npos) {
    return bad(text, "the known forms are host, host:port, unix:/path and ssh://user@host");
  }
  return parse_network(rest, text, Scheme::kTcp);
}

ServerList parse_server_list(std::string_view text) {
  ServerList list;
  for_each_word(text, std::string(kSpaces) + ",", [&](std::string_view entry) {
    if (entry.front() == '@') {
      add_hostfile(list, std::string(entry.substr(1)));
    } else {
      add_entry(list, entry);
    }
  });
  return list;
}

} // namespace farcl::net
