// farcl help, farcl version.
#include "commands.hpp"
#include "farcl/base/config.hpp"
#include "farcl/protocol/hello.hpp"

#include <cstdio>
#include <memory>

namespace farcl::tools {

namespace {
void print_options() {
  std::printf("FarCL's options are environment variables of the program that uses OpenCL:\n\n");
  for (const OptionDescription& option : describe_options()) {
    const std::string shown = option.default_value.empty() ? "unset" : option.default_value;
    std::printf("%.*s (default: %s)\n    %.*s\n", static_cast<int>(option.name.size()), option.name.data(), shown.c_str(),
                static_cast<int>(option.doc.size()), option.doc.data());
  }
}

const CLI::App* find_command(CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_name() == name) {
      return command;
    }
  }
  return nullptr;
}
} // namespace

void add_help_command(CLI::App& app, int& exit_code) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Help: farcl help, farcl help options, farcl help COMMAND");
  command->add_option("topic", *topic, "\"options\" or the name of a command");
  command->callback([&app, topic, &exit_code] {
    if (topic->empty()) {
      std::fputs(app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal).c_str(), stdout); // help() would be ours
    } else if (*topic == "options") {
      print_options();
    } else if (const CLI::App* about = find_command(app, *topic)) {
      std::fputs(about->help().c_str(), stdout);
    } else {
      std::fprintf(stderr, "farcl help: there is no command \"%s\"\n", topic->c_str());
      exit_code = kExitUsage;
    }
  });
}

void add_version_command(CLI::App& app, int& exit_code) {
  app.add_subcommand("version", "Versions of FarCL and of its protocol")->callback([&exit_code] {
    std::printf("FarCL %s, protocol %u\n", FARCL_VERSION, unsigned{protocol::kVersion});
    exit_code = 0;
  });
}

} // namespace farcl::tools
