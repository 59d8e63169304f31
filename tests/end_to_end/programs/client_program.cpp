// An ordinary OpenCL program with several faces, each of them something that real programs do, some of them by mistake.
//
// client_program MODE: prints what happened on stdout, one line each, and ends with 0 when it got along as a good program does:
// an OpenCL error is reported, not fatal.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#ifdef FARCL_SANITIZED
// Some of these programs leave everything behind: that is what they are for.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; } // NOLINT(bugprone-reserved-identifier): the sanitizer's name
#endif

namespace {
using Clock = std::chrono::steady_clock;

constexpr const char* kSource = R"(
__kernel void advance(__global uint *x, uint k) { x[0] = x[0] * 3 + k; }
__kernel void wild_write(__global int *x, ulong address) { *(__global int *)address = 1; x[0] = 1; }
__kernel void endless_loop(__global volatile int *x) { while (x[0] == 0) { } }
__kernel void long_loop(__global volatile uint *x, uint rounds) { for (uint i = 0; i < rounds; ++i) x[0] += i; }
__kernel void greet(int line) { printf("line %d of the kernel's output\n", line); }
)";

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string milliseconds_since(Clock::time_point begin) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count()) + " ms";
}

struct Setup {
  explicit Setup(const cl::Device& chosen) : device(chosen), context(device), queue(context, device), program(context, kSource) {
    program.build();
  }
  cl::Buffer buffer(cl_uint value) const { return cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof value, &value); }
  template <class... Arguments>
  void launch(const char* name, const Arguments&... arguments) {
    cl::Kernel kernel(program, name);
    cl_uint index = 0;
    (kernel.setArg(index++, arguments), ...);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
  }
  cl_uint read(const cl::Buffer& from) {
    cl_uint value = 0;
    queue.enqueueReadBuffer(from, CL_TRUE, 0, 4, &value);
    return value;
  }

  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
  cl::Program program;
};

std::vector<cl::Device> all_devices() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  return devices;
}

// Ten dependent kernels whose result is known.
bool compute_and_check(Setup& setup, cl_uint seed) {
  const cl::Buffer buffer = setup.buffer(seed);
  cl_uint expected = seed;
  for (cl_uint k = 0; k < 10; ++k) {
    setup.launch("advance", buffer, k);
    expected = expected * 3 + k;
  }
  return setup.read(buffer) == expected;
}

// Does something that must end in an OpenCL error, and says which and when.
int expect_error(const std::function<void()>& work) {
  const auto begin = Clock::now();
  try {
    work();
  } catch (const cl::Error& error) {
    say("error " + std::to_string(error.err()) + " from " + error.what() + " after " + milliseconds_since(begin));
    return 0;
  }
  say("no error");
  return 3;
}

volatile std::sig_atomic_t asked_to_end = 0;

// Computes and checks until SIGTERM.
int neighbour() {
  std::signal(SIGTERM, [](int) { asked_to_end = 1; });
  Setup setup(all_devices().front());
  say("started");
  unsigned rounds = 0;
  while (asked_to_end == 0) {
    if (!compute_and_check(setup, ++rounds)) {
      say("WRONG");
      return 1;
    }
  }
  say(std::to_string(rounds) + " rounds right");
  return 0;
}

int wild() {
  Setup setup(all_devices().front());
  const cl::Buffer buffer = setup.buffer(0);
  say("started");
  return expect_error([&] {
    setup.launch("wild_write", buffer, cl_ulong{0x10});
    setup.queue.finish();
    setup.read(buffer);
  });
}

int endless() {
  Setup setup(all_devices().front());
  const cl::Buffer buffer = setup.buffer(0);
  say("started");
  return expect_error([&] {
    setup.launch("endless_loop", buffer);
    setup.queue.finish();
  });
}

// Takes memory and touches it until there is no more.
int hungry() {
  Setup setup(all_devices().front());
  constexpr std::size_t kPiece = std::size_t{32} << 20;
  constexpr std::size_t kMost = std::size_t{64} << 30;
  std::vector<cl::Buffer> pieces;
  say("started");
  const int code = expect_error([&] {
    for (std::size_t taken = 0; taken < kMost; taken += kPiece) {
      pieces.emplace_back(setup.context, CL_MEM_READ_WRITE, kPiece);
      setup.queue.enqueueFillBuffer(pieces.back(), cl_uint{7}, 0, kPiece);
      setup.queue.finish();
    }
  });
  say("pieces " + std::to_string(pieces.size()));
  return code;
}

// Works until something goes wrong.
int busy() {
  Setup setup(all_devices().front());
  say("started");
  const auto begin = Clock::now();
  unsigned rounds = 0;
  const int code = expect_error([&] {
    while (Clock::now() < begin + std::chrono::seconds(60)) {
      if (!compute_and_check(setup, ++rounds)) {
        say("WRONG");
        std::_Exit(1);
      }
    }
  });
  // A session that is gone stays gone: the next call has to say so as well, and soon.
  const int again = expect_error([&] { compute_and_check(setup, 1); });
  return code + again;
}

// Uses every device; those of dead servers are not there.
int every_device() {
  const std::vector<cl::Device> devices = all_devices();
  say("devices " + std::to_string(devices.size()));
  for (const cl::Device& device : devices) {
    Setup setup(device);
    if (!compute_and_check(setup, 5)) {
      say("WRONG");
      return 1;
    }
  }
  say("all right");
  return 0;
}

// Looks for a platform and devices where there may be none.
int look_around() {
  cl_uint platforms = 0;
  const auto begin = Clock::now();
  if (clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS) {
    platforms = 0;
  }
  cl_uint devices = 0;
  if (platforms > 0) {
    cl_platform_id platform = nullptr;
    clGetPlatformIDs(1, &platform, nullptr);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS) {
      devices = 0;
    }
  }
  say("devices " + std::to_string(devices) + " after " + milliseconds_since(begin));
  return 0;
}

// Leaves everything behind: objects, a running kernel, commands that wait for an event that nobody sets, a half-sent transfer.
int leave_everything() {
  auto* setup = new Setup(all_devices().front());
  auto* buffer = new cl::Buffer(setup->buffer(0));
  auto* gate = new cl::UserEvent(setup->context);
  setup->launch("long_loop", *buffer, cl_uint{200'000'000});
  const std::vector<cl::Event> wait{*gate};
  setup->queue.enqueueMarkerWithWaitList(&wait);
  auto* big = new cl::Buffer(setup->context, CL_MEM_READ_WRITE, std::size_t{64} << 20);
#ifdef FARCL_SANITIZED
  // What is sent while the program ends is nobody's business any more, but a sanitizer wants the memory to be there.
  static auto& bytes = *new std::vector<char>(std::size_t{64} << 20, 1);
#else
  static std::vector<char> bytes(std::size_t{64} << 20, 1); // gone before the transfer is
#endif
  setup->queue.enqueueWriteBuffer(*big, CL_FALSE, 0, bytes.size(), bytes.data());
  setup->queue.flush();
  say("leaving");
  return 0;
}

// Waits for ever; somebody presses Ctrl-C.
int wait_forever() {
  Setup setup(all_devices().front());
  cl::UserEvent gate(setup.context);
  const std::vector<cl::Event> wait{gate};
  setup.queue.enqueueMarkerWithWaitList(&wait);
  say("waiting");
  setup.queue.finish();
  say("not reached");
  return 1;
}

// The child of a fork gets errors, soon; the parent goes on.
int fork_in_the_middle() {
  Setup setup(all_devices().front());
  const cl::Buffer buffer = setup.buffer(1);
  setup.launch("advance", buffer, cl_uint{4});
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    const int code = expect_error([&] { compute_and_check(setup, 1); });
    ::_exit(code == 0 ? 0 : 5);
  }
  const bool right = setup.read(buffer) == 7 && compute_and_check(setup, 9);
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool again = compute_and_check(setup, 10); // the child's end has not touched our session
  const int child_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  say("parent " + std::string(right && again ? "right" : "WRONG") + " child " + std::to_string(child_code));
  return right && again && child_code == 0 ? 0 : 1;
}

// Both sides of a fork that came before any OpenCL use it on their own.
int fork_first() {
  const pid_t child = ::fork();
  Setup setup(all_devices().front());
  const bool right = compute_and_check(setup, 3);
  if (child == 0) {
    std::exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  say(right && status == 0 ? "both right" : "WRONG");
  return right && status == 0 ? 0 : 1;
}

/// A kernel ready to be launched again and again, without anything that the program itself would have to allocate for it.
struct Ready {
  explicit Ready(const Setup& setup) : queue(setup.queue()), buffer(setup.buffer(1)), kernel(setup.program, "advance") {
    kernel.setArg(0, buffer);
    kernel.setArg(1, cl_uint{1});
  }
  void work() const {
    const std::size_t one = 1;
    cl_uint value = 0;
    clEnqueueNDRangeKernel(queue, kernel(), 1, nullptr, &one, nullptr, 0, nullptr, nullptr);
    clEnqueueReadBuffer(queue, buffer(), CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  }
  cl_command_queue queue;
  cl::Buffer buffer;
  cl::Kernel kernel;
};

// main returns while two threads are in the middle of OpenCL.
int exit_with_threads() {
  auto* setup = new Setup(all_devices().front());
  for (int i = 0; i < 2; ++i) {
    std::thread([ready = new Ready(*setup)] {
      for (;;) {
        ready->work();
      }
    }).detach();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  say("leaving");
  return 0;
}

// exit() in a signal handler that comes at any moment of an OpenCL call.
int exit_from_handler() {
  auto* setup = new Setup(all_devices().front());
  auto* ready = new Ready(*setup);
  ready->work();
  say("started");
  std::signal(SIGALRM, [](int) { std::exit(0); });
  const itimerval soon{{0, 0}, {0, 20'000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  for (;;) {
    ready->work();
  }
}

// A child that no fork handler knows of exits; the parent's session must not notice.
int clone_and_exit() {
  auto* setup = new Setup(all_devices().front());
  bool right = compute_and_check(*setup, 1);
  for (int i = 0; i < 3; ++i) {
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) {
      std::exit(0);
    }
    ::waitpid(child, nullptr, 0);
    right = compute_and_check(*setup, 2) && right;
  }
  say(right ? "parent right" : "parent WRONG");
  return right ? 0 : 1;
}

// Builds the program in a file, and says how long that took.
int build_file(const std::string& path) {
  std::ifstream file(path);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  const cl::Context context(all_devices().front());
  const auto begin = Clock::now();
  cl::Program(context, source).build();
  say("built after " + milliseconds_since(begin));
  return 0;
}

// Works, then does nothing for a while, with everything alive.
int fall_silent() {
  Setup setup(all_devices().front());
  const bool right = compute_and_check(setup, 8);
  say(right ? "silent" : "WRONG");
  ::sleep(30);
  return right && compute_and_check(setup, 9) ? 0 : 1;
}

// Writes over everything that it shares with the server, again and again, while commands are on their way.
int scribble() {
  Setup setup(all_devices().front());
  const cl::Buffer large(setup.context, CL_MEM_READ_WRITE, 1u << 20);
  setup.queue.enqueueFillBuffer(large, cl_uint{1}, 0, 1u << 20);
  setup.queue.finish();
  std::ifstream maps("/proc/self/maps");
  std::vector<std::pair<unsigned char*, std::size_t>> shared;
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0;
    unsigned long last = 0;
    if (line.find("memfd:farcl") != std::string::npos && std::sscanf(line.c_str(), "%lx-%lx", &first, &last) == 2) {
      shared.emplace_back(reinterpret_cast<unsigned char*>(first), std::min<std::size_t>(last - first, 2u << 20)); // NOLINT
    }
  }
  say("shares " + std::to_string(shared.size()) + " regions");
  ::alarm(10);
  std::mt19937 random(static_cast<unsigned>(::getpid()));
  (void)expect_error([&] {
    for (int round = 0; round < 20'000; ++round) {
      for (const auto& [memory, size] : shared) { // mostly where the positions of the rings are
        memory[random() % (round % 2 == 0 ? 512 : size)] = static_cast<unsigned char>(random());
      }
      setup.queue.enqueueMarkerWithWaitList();
      setup.queue.flush();
    }
    setup.queue.finish();
  });
  return 0;
}

int print_in_order() {
  Setup setup(all_devices().front());
  for (int line = 0; line < 100; ++line) {
    setup.launch("greet", line);
  }
  setup.queue.finish();
  say("finished");
  return 0;
}
} // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::map<std::string, std::function<int()>> modes{
      {"neighbour", neighbour},
      {"wild", wild},
      {"endless", endless},
      {"hungry", hungry},
      {"busy", busy},
      {"every-device", every_device},
      {"look-around", look_around},
      {"leave-everything", leave_everything},
      {"wait-forever", wait_forever},
      {"fork-in-the-middle", fork_in_the_middle},
      {"fork-first", fork_first},
      {"fall-silent", fall_silent},
      {"print-in-order", print_in_order},
      {"build", [&] { return build_file(argc > 2 ? argv[2] : ""); }},
      {"exit-with-threads", exit_with_threads},
      {"exit-from-handler", exit_from_handler},
      {"clone-and-exit", clone_and_exit},
      {"scribble", scribble},
  };
  if (!modes.contains(mode)) {
    std::fprintf(stderr, "client_program: no mode \"%s\"\n", mode.c_str());
    return 2;
  }
  try {
    return modes.at(mode)();
  } catch (const cl::Error& error) {
    say(std::string("unexpected error ") + std::to_string(error.err()) + " from " + error.what());
    return 4;
  } catch (const std::exception& error) {
    say(std::string("unexpected ") + error.what());
    return 4;
  }
}
