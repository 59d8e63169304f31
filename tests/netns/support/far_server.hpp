// A farcld behind an emulated link: two namespaces, a router between them, and the test's own process in the client's.
#pragma once

#include "link_emulator.hpp"
#include "namespaces.hpp"
#include "tests/end_to_end/support/child_program.hpp"
#include "tests/end_to_end/support/private_server.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace farcl::netns {

/// What link_program printed.
struct Figures {
  bool right = false; ///< it ended in time, and all its values were right
  std::map<std::string, double> values;
  std::string text; ///< for failures
};

class FarServer {
public:
  /// Null, and `why` says what is missing, where namespaces cannot be made.
  /// `admission`: farcld's arguments that let others in.
  [[nodiscard]] static std::unique_ptr<FarServer> start(const LinkConditions& conditions, std::string& why,
                                                        const std::vector<std::string>& admission = {"--insecure"});

  [[nodiscard]] LinkEmulator& link() { return *link_; }
  [[nodiscard]] Figures run(const std::vector<std::string>& words, std::chrono::seconds limit,
                            const std::map<std::string, std::string>& environment = {}) const;
  [[nodiscard]] const std::string& address() const { return server_->tcp_address(); }
  [[nodiscard]] std::string server_log() const { return server_->log(); }

private:
  FarServer() = default;
  std::unique_ptr<end_to_end::PrivateServer> server_;
  std::unique_ptr<LinkEmulator> link_;
};

} // namespace farcl::netns
