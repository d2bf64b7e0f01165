// What the engines share: a connection as a class, and its form as the table of C functions that the core calls.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <tma_jit/c_remote.h>

namespace tma_jit::remote {

enum class Status : tma_jit_remote_status {
  ok = TMA_JIT_REMOTE_OK,
  absent = TMA_JIT_REMOTE_ABSENT,
  failed = TMA_JIT_REMOTE_FAILED,
  denied = TMA_JIT_REMOTE_DENIED,
  full = TMA_JIT_REMOTE_FULL,
};

// The result of a verb. The reason is one line without credentials; empty for ok and absent.
struct Answer {
  Status status = Status::failed;
  std::string reason{};
};

// Takes a part of an entry's bytes; returns false if they are too many.
class Receiver {
 public:
  Receiver(tma_jit_remote_receiver receive, void* receiver) : receive_(receive), receiver_(receiver) {}
  bool operator()(const void* bytes, std::size_t count) const { return receive_(receiver_, bytes, count) != 0; }

 private:
  tma_jit_remote_receiver receive_;
  void* receiver_;
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual Answer get(std::string_view key, const Receiver& receive) = 0;
  virtual Answer put(std::string_view key, std::span<const std::byte> bytes) = 0;
  virtual Answer exists(std::string_view key) = 0;
  virtual Answer health() = 0;
};

// The settings that a connection keeps.
struct Settings {
  std::string scheme, host, path, query, user, password, token, ca, certificate, private_key;
  int port = 0;
  int connect_ms = 0, total_ms = 0;
  std::uint64_t bytes_max = 0;
  void* guard = nullptr;
  void (*enter)(void*) = nullptr;
  void (*leave)(void*) = nullptr;
  std::int32_t (*cancelled)(void*) = nullptr;

  explicit Settings(const tma_jit_remote_settings& given);
  // Returns the value of a name of the query, decoded; "" if it is not there.
  std::string option(std::string_view name) const;
};

// No fork happens while it exists.
class NoFork {
 public:
  explicit NoFork(const Settings& settings) : settings_(settings) { settings_.enter(settings_.guard); }
  ~NoFork() { settings_.leave(settings_.guard); }
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;

 private:
  const Settings& settings_;
};

// Copies a text, cut to what there is room for.
void write_message(tma_jit_remote_message message, std::string_view text);

inline tma_jit_remote_status told(const Answer& answer, tma_jit_remote_message message) {
  write_message(message, answer.reason);
  return static_cast<tma_jit_remote_status>(answer.status);
}

// The table of the engine whose connections `Made::open(Settings, reason)` makes; null with the reason if it cannot.
template <class Made> const tma_jit_remote_engine* engine_of() {
  static const tma_jit_remote_engine table = {
      sizeof(tma_jit_remote_engine),
      [](const tma_jit_remote_settings* given, tma_jit_remote_message message) -> void* {
        std::string reason;
        Connection* made = Made::open(Settings(*given), reason).release();
        write_message(message, reason);
        return made;
      },
      [](void* connection) { delete static_cast<Connection*>(connection); },
      [](void* connection, const char* key, tma_jit_remote_receiver receive, void* receiver,
         tma_jit_remote_message message) {
        return told(static_cast<Connection*>(connection)->get(key, Receiver(receive, receiver)), message);
      },
      [](void* connection, const char* key, const void* bytes, std::size_t count, tma_jit_remote_message message) {
        return told(static_cast<Connection*>(connection)->put(key, {static_cast<const std::byte*>(bytes), count}),
                    message);
      },
      [](void* connection, const char* key, tma_jit_remote_message message) {
        return told(static_cast<Connection*>(connection)->exists(key), message);
      },
      [](void* connection, tma_jit_remote_message message) {
        return told(static_cast<Connection*>(connection)->health(), message);
      }};
  return &table;
}

}  // namespace tma_jit::remote
