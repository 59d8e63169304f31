#include "service_process.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace farcl::kernel_compiler::test {
namespace {

struct Pair {
  UniqueFd ours;
  UniqueFd theirs;
};

Pair make_pair_of_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::runtime_error("socketpair failed");
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::string make_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "farcl-kc-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("mkdtemp failed");
  }
  return name;
}

} // namespace

ServiceProcess::ServiceProcess(const std::vector<std::string>& options) : cache_folder_(make_folder()) {
  Pair control = make_pair_of_sockets();
  std::vector<std::string> words = {FARCL_KC_PROGRAM, "--control-fd", "3", "--cache", cache_folder_};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    if (control.theirs.get() == 3) {
      // dup2 to the same number would leave close-on-exec set.
      const int moved = ::dup(3);
      ::dup2(moved, 3);
      ::close(moved);
    } else {
      ::dup2(control.theirs.get(), 3);
    }
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  control_ = std::move(control.ours);
}

ServiceProcess::~ServiceProcess() {
  if (pid_ > 0 && !stop()) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code error;
  std::filesystem::remove_all(cache_folder_, error);
}

UniqueFd ServiceProcess::connect_raw() const {
  Pair pair = make_pair_of_sockets();
  if (!hand_over_connection(control_.get(), std::move(pair.theirs))) {
    throw std::runtime_error("the service does not take connections");
  }
  return std::move(pair.ours);
}

CompileConnection ServiceProcess::connect() const { return CompileConnection(connect_raw()); }

bool ServiceProcess::stop() {
  control_.reset();
  for (int i = 0; i < 500; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

int ServiceProcess::count_builds() const {
  const std::string pid = std::to_string(pid_);
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  int count = 0;
  for (int child = 0; children >> child;) {
    std::string name;
    std::ifstream("/proc/" + std::to_string(child) + "/comm") >> name;
    count += name == "kc-build" ? 1 : 0;
  }
  return count;
}

} // namespace farcl::kernel_compiler::test
