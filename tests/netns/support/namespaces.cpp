#include "namespaces.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/if_tun.h>
#include <net/if.h>
#include <optional>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace farcl::netns {

namespace {
constexpr const char* kDevice = "link0";
constexpr int kMtuBytes = 1500;
constexpr int kQueuePackets = 10000; ///< the emulator's own queue is the one that drops

ifreq request_for(const char* device) {
  ifreq request{};
  std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
  return request;
}

void set_address(ifreq& request, const std::string& address) {
  auto* in = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  in->sin_family = AF_INET;
  ::inet_pton(AF_INET, address.c_str(), &in->sin_addr);
}

Status bring_up(const char* device) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = request_for(device);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) {
    return fail_errno(errno, "a network device without flags");
  }
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  return ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0 ? Status() : fail_errno(errno, "a network device that does not start");
}

Result<UniqueFd> make_tun(const std::string& address) {
  UniqueFd tun(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  ifreq request = request_for(kDevice);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (!tun || ::ioctl(tun.get(), TUNSETIFF, &request) != 0) {
    return fail_errno(errno, "no TUN device");
  }
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto set = [&](unsigned long what, auto&& fill) {
    ifreq one = request_for(kDevice);
    fill(one);
    return ::ioctl(socket.get(), what, &one) == 0;
  };
  const bool done = set(SIOCSIFADDR, [&](ifreq& one) { set_address(one, address); }) &&
                    set(SIOCSIFNETMASK, [&](ifreq& one) { set_address(one, "255.255.255.0"); }) &&
                    set(SIOCSIFMTU, [&](ifreq& one) { one.ifr_mtu = kMtuBytes; }) &&
                    set(SIOCSIFTXQLEN, [&](ifreq& one) { one.ifr_qlen = kQueuePackets; });
  if (!done) {
    return fail_errno(errno, "a TUN device that cannot be set up");
  }
  if (auto status = bring_up(kDevice); !status) {
    return pass_on(std::move(status));
  }
  return tun;
}

/// Runs on a thread of its own, so that the caller stays where it is.
template <class Function>
auto on_a_thread(Function&& function) {
  std::optional<decltype(function())> result;
  std::thread([&] { result.emplace(function()); }).join();
  return std::move(*result);
}
} // namespace

Result<Namespace> Namespace::make() {
  return on_a_thread([]() -> Result<Namespace> {
    if (::unshare(CLONE_NEWNET) != 0) {
      return fail_errno(errno, "no network namespace");
    }
    UniqueFd fd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!fd) {
      return fail_errno(errno, "no network namespace");
    }
    if (auto status = bring_up("lo"); !status) {
      return pass_on(std::move(status));
    }
    return Namespace(std::move(fd));
  });
}

Status Namespace::enter() const {
  return ::setns(fd_.get(), CLONE_NEWNET) == 0 ? Status() : fail_errno(errno, "a network namespace that cannot be entered");
}

Status Namespace::run(const std::function<Status()>& function) const {
  return on_a_thread([&]() -> Status {
    auto status = enter();
    return status ? function() : status;
  });
}

Result<UniqueFd> Namespace::open_tun(const std::string& address) const {
  return on_a_thread([&]() -> Result<UniqueFd> {
    if (auto status = enter(); !status) {
      return pass_on(std::move(status));
    }
    return make_tun(address);
  });
}

Status Namespace::set_ipv4(const std::string& name, const std::string& value) const {
  return run([&]() -> Status {
    std::ofstream file("/proc/sys/net/ipv4/" + name);
    file << value << std::flush;
    return file ? Status() : fail(ErrorCode::kRefused, "net.ipv4." + name + " cannot be set");
  });
}

} // namespace farcl::netns
