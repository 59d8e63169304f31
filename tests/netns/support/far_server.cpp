#include "far_server.hpp"

#include <sstream>

namespace farcl::netns {

namespace {
constexpr const char* kClientAddress = "10.99.0.1";
constexpr const char* kServerAddress = "10.99.0.2";

/// What a fresh Linux has, whatever this machine's administrator likes.
Status set_defaults(const Namespace& one) {
  for (const auto& [name, value] : {std::pair{"tcp_rmem", "4096 131072 6291456"}, {"tcp_wmem", "4096 16384 4194304"}}) {
    if (auto status = one.set_ipv4(name, value); !status) {
      return status;
    }
  }
  return {};
}

Result<std::unique_ptr<LinkEmulator>> join(const Namespace& client, const Namespace& server, const LinkConditions& conditions) {
  auto first = client.open_tun(kClientAddress);
  if (!first) {
    return pass_on(std::move(first));
  }
  auto second = server.open_tun(kServerAddress);
  if (!second) {
    return pass_on(std::move(second));
  }
  return std::make_unique<LinkEmulator>(std::move(*first), std::move(*second), conditions);
}
} // namespace

std::unique_ptr<FarServer> FarServer::start(const LinkConditions& conditions, std::string& why, const std::vector<std::string>& admission) {
  const auto client = Namespace::make();
  const auto server = Namespace::make();
  if (!client || !server) {
    why = (client ? server : client).error().message;
    return nullptr;
  }
  std::unique_ptr<FarServer> made(new FarServer);
  auto link = join(*client, *server, conditions);
  if (!link) {
    why = link.error().message;
    return nullptr;
  }
  made->link_ = std::move(*link);
  for (const Namespace& one : {std::cref(*client), std::cref(*server)}) {
    if (auto status = set_defaults(one); !status) {
      why = status.error().message;
      return nullptr;
    }
  }
  // This thread moves, not another one: children end with the thread that started them.
  if (auto status = server->enter(); !status) {
    why = status.error().message;
    return nullptr;
  }
  std::vector<std::string> arguments{"--listen", std::string(kServerAddress) + ":0"};
  arguments.insert(arguments.end(), admission.begin(), admission.end());
  made->server_ = std::make_unique<end_to_end::PrivateServer>(arguments);
  if (auto status = client->enter(); !status) {
    why = status.error().message;
    return nullptr;
  }
  return made;
}

Figures FarServer::run(const std::vector<std::string>& words, std::chrono::seconds limit,
                       const std::map<std::string, std::string>& environment) const {
  std::vector<std::string> command{FARCL_LINK_PROGRAM};
  command.insert(command.end(), words.begin(), words.end());
  const end_to_end::ProgramEnd end = end_to_end::run_program(command, address(), limit, environment);
  Figures figures;
  figures.right = end.in_time && end.exit_code == 0;
  figures.text = end.out + end.err + (end.in_time ? "" : "(not in time)");
  std::istringstream lines(end.out);
  std::string name;
  for (double value = 0; lines >> name >> value;) {
    figures.values[name] = value;
  }
  return figures;
}

} // namespace farcl::netns
