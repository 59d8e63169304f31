#include "resolve.hpp"

#include <asio/ip/tcp.hpp>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace farcl::net {

namespace {
SocketAddress to_socket_address(const asio::ip::tcp::endpoint& endpoint) {
  SocketAddress address;
  address.length = static_cast<socklen_t>(endpoint.size());
  std::memcpy(&address.storage, endpoint.data(), endpoint.size());
  return address;
}

/// What the caller and the resolving thread share; whoever lets go last frees it.
struct Lookup {
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;
  std::error_code error;
  std::vector<SocketAddress> addresses;
};

void run_lookup(const std::shared_ptr<Lookup>& lookup, const std::string& host, const std::string& port) noexcept {
  std::error_code error;
  std::vector<SocketAddress> addresses;
  try {
    asio::io_context context;
    asio::ip::tcp::resolver resolver(context);
    for (const auto& entry : resolver.resolve(host, port, asio::ip::resolver_base::numeric_service, error)) {
      if (addresses.size() < kMaxResolvedAddresses) {
        addresses.push_back(to_socket_address(entry.endpoint()));
      }
    }
  } catch (...) { // no descriptors or no memory left
    error = std::make_error_code(std::errc::not_enough_memory);
  }
  const std::lock_guard<std::mutex> held(lookup->mutex);
  lookup->done = true;
  lookup->error = error;
  lookup->addresses = std::move(addresses);
  lookup->done_changed.notify_all();
}

/// Starts the thread with all signals blocked: the program's handlers must not run on a thread that it does not know.
bool start_lookup(const std::shared_ptr<Lookup>& lookup, const std::string& host, std::uint16_t port) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  bool started = true;
  try {
    std::thread([lookup, host, service = std::to_string(port)] { run_lookup(lookup, host, service); }).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}
} // namespace

Result<std::vector<SocketAddress>> resolve(const std::string& host, std::uint16_t port, Clock::time_point deadline) {
  std::error_code no_number;
  if (const auto number = asio::ip::make_address(host, no_number); !no_number) {
    return std::vector<SocketAddress>{to_socket_address({number, port})};
  }
  const auto lookup = std::make_shared<Lookup>();
  if (!start_lookup(lookup, host, port)) {
    return fail(ErrorCode::kOutOfMemory, "no thread could be started to look up the name " + host);
  }
  std::unique_lock<std::mutex> held(lookup->mutex);
  if (!lookup->done_changed.wait_until(held, deadline, [&] { return lookup->done; })) {
    return fail(ErrorCode::kTimeout, "the name " + host + " could not be looked up in time");
  }
  if (lookup->error || lookup->addresses.empty()) {
    return fail(ErrorCode::kDisconnected,
                "the name " + host + " does not resolve: " + (lookup->error ? lookup->error.message() : std::string("it has no address")));
  }
  return std::move(lookup->addresses);
}

} // namespace farcl::net
