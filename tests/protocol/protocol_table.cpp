// Prints the tables of docs/protocol.md from the message list, or keeps that page up to date.
//
//   protocol_table                 prints them
//   protocol_table --check PAGE    fails when the page has others between its two markers
//   protocol_table --update PAGE   writes them into the page
#include "farcl/protocol/message_list.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace farcl;

constexpr std::string_view kBegin =
    "<!-- The tables begin: made by protocol_table from protocol/include/farcl/protocol/message_list.hpp -->\n";
constexpr std::string_view kEnd = "<!-- The tables end. -->\n";

/// Structures that were named while printing, in order, each once.
class Structures {
public:
  template <class T>
  std::string name() {
    std::string text(protocol::detail::name_of<T>());
    for (const auto& [known, rows] : entries_) {
      if (known == text) {
        return text;
      }
    }
    const std::size_t at = entries_.size();
    entries_.emplace_back(text, "");
    entries_[at].second = fields_of<T>();
    return text;
  }
  template <class T>
  std::string fields_of() {
    std::string out;
    std::apply([&](const auto&... one) { ((out += (out.empty() ? "" : ", ") + describe(one)), ...); }, T::fields());
    return out.empty() ? "none" : out;
  }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

private:
  template <class Class, class Member>
  std::string describe(const Field<Class, Member>& one) {
    return std::string(one.name) + " *" + type_name<Member>(one.max_elements) + "*";
  }
  template <class T>
  std::string type_name(std::uint64_t max_elements) {
    const std::string limit = " up to " + std::to_string(max_elements);
    if constexpr (std::same_as<T, bool>) {
      return "bool";
    } else if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
      return "f" + std::to_string(8 * sizeof(T));
    } else if constexpr (std::integral<T>) {
      return (std::signed_integral<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
    } else if constexpr (std::is_enum_v<T>) {
      return std::string(protocol::detail::name_of<T>()) + " u" + std::to_string(8 * sizeof(T));
    } else if constexpr (farcl::detail::IsStrongId<T>::value) {
      return "id";
    } else if constexpr (std::same_as<T, std::string>) {
      return "text" + limit;
    } else if constexpr (std::same_as<T, ConstBytes>) {
      return "bytes" + limit;
    } else if constexpr (farcl::detail::IsVector<T>::value) {
      return "list" + limit + " of " + type_name<typename T::value_type>(kDefaultMaxElements);
    } else if constexpr (farcl::detail::IsArray<T>::value) {
      return std::to_string(std::tuple_size_v<T>) + " x " + type_name<typename T::value_type>(kDefaultMaxElements);
    } else if constexpr (farcl::detail::IsOptional<T>::value) {
      return "optional " + type_name<typename T::value_type>(max_elements);
    } else if constexpr (farcl::detail::IsVariant<T>::value) {
      return alternatives(static_cast<T*>(nullptr), max_elements);
    } else {
      return name<T>();
    }
  }
  template <class... T>
  std::string alternatives(std::variant<T...>*, std::uint64_t max_elements) {
    std::string out;
    ((out += (out.empty() ? "" : " or ") + type_name<T>(max_elements)), ...);
    return out;
  }
  std::vector<std::pair<std::string, std::string>> entries_;
};

template <class List>
void print_messages(std::ostream& out, Structures& structures) {
  out << "| opcode | message | fields, in order | answered by |\n|---|---|---|---|\n";
  protocol::for_each_message(List{}, [&]<class Message>() {
    using Reply = typename protocol::ReplyOf<Message>::type;
    out << "| " << Message::kOpcode << " | `" << protocol::kMessageName<Message> << "` | " << structures.fields_of<Message>() << " | ";
    if constexpr (!std::is_void_v<Reply>) {
      out << "`" << protocol::kMessageName<Reply> << "`";
    }
    out << " |\n";
  });
}

std::string tables() {
  std::ostringstream out;
  Structures structures;
  out << "\n### From client to server\n\n";
  print_messages<protocol::ClientMessages>(out, structures);
  out << "\n### From server to client\n\n";
  print_messages<protocol::ServerMessages>(out, structures);
  out << "\n### Structures inside them\n\n| structure | fields, in order |\n|---|---|\n";
  for (const auto& [name, fields] : structures.entries()) {
    out << "| `" << name << "` | " << fields << " |\n";
  }
  out << "\n";
  return out.str();
}

int keep_page(const std::string& path, bool update) {
  std::ifstream file(path);
  std::stringstream buffer;
  buffer << file.rdbuf();
  const std::string page = buffer.str();
  const auto begin = page.find(kBegin);
  const auto end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    std::fprintf(stderr, "%s has not the two marker lines of protocol_table\n", path.c_str());
    return 1;
  }
  const std::string expected = page.substr(0, begin + kBegin.size()) + tables() + page.substr(end);
  if (update) {
    std::ofstream(path) << expected;
    return 0;
  }
  if (page != expected) {
    std::fprintf(stderr, "the tables in %s are not those of the message list; run protocol_table --update on it\n", path.c_str());
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::string mode = argc == 3 ? argv[1] : "";
  if (mode == "--check" || mode == "--update") {
    return keep_page(argv[2], mode == "--update");
  }
  if (argc != 1) {
    std::fprintf(stderr, "usage: protocol_table [--check|--update PAGE]\n");
    return 2;
  }
  std::fputs(tables().c_str(), stdout);
  return 0;
}
