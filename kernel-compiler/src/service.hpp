// The compile service: takes connections from a control socket, requests from connections, builds in children, answers.
//
// Threads: one. It waits in poll for the control socket, every connection and every child, and never blocks on any of them.
// It ends when the control socket closes (its daemon is gone) and takes its children along.
#pragma once

#include "build_child.hpp"
#include "cache.hpp"
#include "compiler.hpp"
#include "wire.hpp"

#include "farcl/base/log.hpp"
#include "farcl/base/unique_fd.hpp"

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace farcl::kernel_compiler {

struct ServiceOptions {
  BuildLimits limits;
  std::size_t max_builds = 4; ///< at once; others wait in line
  std::size_t max_connections = 1024;
  std::size_t max_requests_per_connection = 64; ///< waiting or building; the connection is not read beyond
};

class Service {
public:
  Service(UniqueFd control, std::unique_ptr<Compiler> compiler, Cache cache, ServiceOptions options);
  /// Returns when the control socket has closed.
  Status run();

private:
  using ConnectionId = std::uint64_t;

  struct Outgoing {
    std::uint64_t request_id;
    ByteVector bytes;
    UniqueFd descriptor;
  };
  struct Connection {
    UniqueFd socket;
    FrameReader reader;
    std::deque<Outgoing> outgoing;
    FrameSender sender;
    std::size_t open_requests = 0;
  };
  struct Asker {
    ConnectionId connection = 0;
    std::uint64_t request_id = 0;
  };
  /// What is to be built, once for all who ask for it.
  struct Job {
    std::vector<Asker> askers;
    std::string key;
    CompileRequest request;
  };
  struct Build {
    Job job;
    BuildChild child;
    bool second_try = false;
  };

  bool turn();
  [[nodiscard]] int poll_limit_ms() const;
  bool accept_connections();
  bool serve(ConnectionId id, Connection& connection, short events);
  bool read_requests(ConnectionId id, Connection& connection);
  bool take_request(ConnectionId id, Connection& connection, Frame frame);
  bool write_replies(Connection& connection);
  /// The job that will answer this key, if one waits or runs.
  Job* find_job(const std::string& key);
  void drop(ConnectionId id);
  void warm_up();
  void start_builds();
  void start_build(Job job, bool second_try, const std::string& earlier_log);
  Result<BuildChild> child_for_build();
  [[nodiscard]] bool wants_spare() const;
  void make_spare();
  void finish_builds();
  void finish_build(Build build, bool timed_out);
  void answer(const Job& job, const CompileReplyData& data, const UniqueFd& shared_object);
  void answer(const Asker& asker, ConstBytes reply, UniqueFd shared_object);

  /// One line per second at most: programs decide how often the compiler dies.
  void log_death(const std::string& log);

  UniqueFd control_;
  std::unique_ptr<Compiler> compiler_;
  Cache cache_;
  ServiceOptions options_;
  Logger log_;
  bool is_warm_ = false;
  ConnectionId next_connection_ = 1;
  std::map<ConnectionId, Connection> connections_;
  std::deque<Job> waiting_;
  std::list<Build> running_;
  std::optional<BuildChild> spare_; ///< warm, or making itself warm, for the next build
  std::chrono::steady_clock::time_point next_spare_{};
  std::chrono::steady_clock::time_point next_log_{};
  std::uint64_t deaths_not_logged_ = 0;
};

} // namespace farcl::kernel_compiler
