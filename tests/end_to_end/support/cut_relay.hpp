// A TCP relay of the test's own in front of a server, whose connections it cuts on demand.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace farcl::end_to_end {

class CutRelay {
public:
  /// `server`: "127.0.0.1:PORT".
  explicit CutRelay(const std::string& server);
  ~CutRelay();
  CutRelay(const CutRelay&) = delete;
  CutRelay& operator=(const CutRelay&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  /// Ends every connection now; new ones are relayed again.
  void cut() { cut_ = true; }
  [[nodiscard]] int connections() const { return connections_; }
  /// True when this was among the bytes that went through.
  [[nodiscard]] bool has_seen(const std::string& text);

private:
  struct Pair {
    int client = -1;
    int server = -1;
  };
  void serve();
  void accept_one();
  bool move(int from, int to);
  void close_all();

  std::string address_;
  std::uint16_t server_port_ = 0;
  int listener_ = -1;
  std::vector<Pair> pairs_;
  std::atomic<bool> cut_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int> connections_{0};
  std::mutex seen_mutex_;
  std::string seen_;
  std::thread thread_;
};

} // namespace farcl::end_to_end
