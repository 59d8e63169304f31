// KcBuilder: builds programs through the compile service and loads what it makes.
//
// Threads: build and replace are called by any thread; one thread of its own talks to the service, loads shared objects and
// calls back. Many builds are on their way at once; each has an end: the service's answer, its loss, or the time limit.
#pragma once

#include "daemon/device/device.hpp"
#include "farcl/base/mailbox.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/kernel_compiler/client.hpp"
#include "farcl/net/waker.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <variant>

namespace farcl::daemon {

class KcBuilder final : public ProgramBuilder {
public:
  KcBuilder(UniqueFd compile_service, std::chrono::seconds build_limit);
  ~KcBuilder() override;

  [[nodiscard]] std::string name() const override { return "cpu"; }
  void build(BuildRequest request, std::function<void(BuildResult)> done) override;
  /// A new connection to the service; builds that were on their way are asked for again.
  void replace(UniqueFd compile_service);

private:
  using Clock = std::chrono::steady_clock;
  using Done = std::function<void(BuildResult)>;
  struct Order {
    kernel_compiler::CompileRequest request;
    Done done;
    Clock::time_point until;
  };
  using Mail = std::variant<Order, UniqueFd>;

  void run();
  void take(Order order);
  void take(UniqueFd compile_service);
  void send(Order order);
  void wait();
  void receive();
  void lose_service(const std::string& why);
  void end_late_builds();
  static void finish(Order& order, kernel_compiler::CompileReply reply);

  const std::chrono::seconds build_limit_;
  net::Waker waker_;
  Mailbox<Mail> mail_;
  // The thread's own.
  std::optional<kernel_compiler::CompileConnection> service_;
  std::map<std::uint64_t, Order> sent_;
  std::vector<Order> unsent_; ///< the service is gone; perhaps a new one comes in time
  std::thread thread_;
};

} // namespace farcl::daemon
