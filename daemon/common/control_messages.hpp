// What supervisor and worker say to each other over the worker's control socket (SOCK_SEQPACKET: one message per packet).
//
// The first byte is the alternative's number in the list below, then the message as farcl::Writer writes it. Descriptors
// travel beside a message with SCM_RIGHTS. The supervisor sends without waiting (a worker whose control socket is full is
// stuck: that connection is dropped, nobody else notices) and takes what a worker says as hostile.
#pragma once

#include "farcl/base/archive.hpp"
#include "farcl/base/result.hpp"
#include "farcl/base/unique_fd.hpp"
#include "farcl/protocol/hello.hpp"
#include "farcl/protocol/limits.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace farcl::daemon {

inline constexpr std::size_t kMaxControlBytes = 8192;
inline constexpr std::size_t kMaxControlFds = 2;

/// To the worker, once and first: what it is (read by `farcld --worker` itself, before run_worker).
struct StartWorker {
  std::uint32_t worker_number = 0; ///< not 0; also its name among the spin permits
  protocol::SessionId session{};
  std::array<std::uint8_t, 32> secret{};
  protocol::SessionLimits limits;
  std::string devices; ///< "cpu" or "cpu,cpu"
  std::uint32_t spin_us = 0;
  std::uint32_t cores = 0;
  std::uint8_t log_level = 0;
  bool insecure = false;

  static constexpr auto fields() {
    using T = StartWorker;
    return std::tuple(field("worker_number", &T::worker_number), field("session", &T::session), field("secret", &T::secret),
                      field("limits", &T::limits), field("devices", &T::devices, 1024), field("spin_us", &T::spin_us),
                      field("cores", &T::cores), field("log_level", &T::log_level), field("insecure", &T::insecure));
  }
};

/// To the worker, with one descriptor (a connected socket) or two (the reading and the writing pipe of `farcld --stdio`): a
/// connection of its session whose hello has been read and found right (for a resumed session: the secret matches). The first
/// one opens the session. The worker answers the hello itself, since only it knows what it has received. A later one replaces
/// the one before, which the worker closes. Never waits for the old one to end.
struct AttachConnection {
  std::uint64_t session_number = 0; ///< for people: "session 12" in the log
  std::uint16_t version_min = 0;    ///< the hello's
  std::uint16_t version_max = 0;
  bool resume = false;        ///< the hello named the session
  std::uint64_t received = 0; ///< the hello's: the last sequence number that the client has
  bool resumable = true;      ///< false: the session ends with this connection
  std::uint8_t stream = 0;    ///< the number of a further stream for bulk; 0: the stream of commands
  bool shared_memory = false; ///< the client takes it
  bool encrypted = false;     ///< TLS follows the hello, with this key that is good for this connection only
  std::array<std::uint8_t, 32> one_time_key{};

  static constexpr auto fields() {
    using T = AttachConnection;
    return std::tuple(field("session_number", &T::session_number), field("version_min", &T::version_min),
                      field("version_max", &T::version_max), field("resume", &T::resume), field("received", &T::received),
                      field("resumable", &T::resumable), field("stream", &T::stream), field("shared_memory", &T::shared_memory),
                      field("encrypted", &T::encrypted), field("one_time_key", &T::one_time_key));
  }
};

/// To the worker: tell the client this sentence (SessionFailed) if that goes without waiting, and exit. It is killed 2 s later.
struct EndSession {
  std::string sentence;
  static constexpr auto fields() { return std::tuple(field("sentence", &EndSession::sentence, protocol::kMaxSentenceBytes)); }
};

/// To the supervisor, before the worker exits with 0: the session has ended in an orderly way, and why, as the end of a line
/// of the log: "the client said goodbye", "its client did not come back within 5 s".
struct SessionEnded {
  std::string reason;
  bool failed = false; ///< a protocol error or a limit: worth a warning, and an obituary for a client that comes back
  static constexpr auto fields() {
    return std::tuple(field("reason", &SessionEnded::reason, protocol::kMaxSentenceBytes), field("failed", &SessionEnded::failed));
  }
};

/// To the worker, with one descriptor: the compile service had died and runs again; use this connection from now on. Builds
/// that were on their way are lost and have to be asked for again.
struct ReplaceCompileService {
  static constexpr auto fields() { return std::tuple(); }
};

using ToWorker = std::variant<StartWorker, AttachConnection, EndSession, ReplaceCompileService>;
using ToSupervisor = std::variant<SessionEnded>;

/// Sends one packet without waiting and without SIGPIPE. kLimit: the other side does not read (its queue is full).
[[nodiscard]] Status send_control_packet(int socket, ConstBytes packet, std::span<const int> fds);

struct ControlPacket {
  ByteVector bytes;          ///< empty: the other side has closed
  std::vector<UniqueFd> fds; ///< close-on-exec
};
/// Receives one packet. Waits for it unless the socket is non-blocking: then kTimeout when none is there.
[[nodiscard]] Result<ControlPacket> receive_control_packet(int socket);

[[nodiscard]] inline Status send_to_worker(int socket, const ToWorker& message, std::span<const int> fds = {}) {
  return send_control_packet(socket, encode(message), fds);
}
[[nodiscard]] inline Status send_to_supervisor(int socket, const ToSupervisor& message) {
  return send_control_packet(socket, encode(message), {});
}

/// Decodes a whole packet; extra bytes are an error.
template <class Message>
[[nodiscard]] Result<Message> decode_control(ConstBytes packet) {
  Message message;
  Reader reader(packet);
  if (!reader.read(message) || reader.remaining() != 0) {
    return fail(ErrorCode::kInvalid, "a malformed control message: " + (reader.failed() ? reader.error() : std::string("it is too long")));
  }
  return message;
}

} // namespace farcl::daemon
