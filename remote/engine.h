// What the engines share: a connection as a class, and its form as the table of C functions that the core calls.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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

// An engine's connection, as the core holds it.
struct Opened {
  Settings settings;
  std::unique_ptr<Connection> connection;
};

// Ends what OpenSSL keeps for the calling thread when an engine's function returns. At the end of the thread OpenSSL
// would take a lock while forks are allowed, and a child forked at that moment would find it locked for ever.
class OpensslThread {
 public:
  explicit OpensslThread(const Settings& settings) : settings_(settings) {}
  ~OpensslThread();
  OpensslThread(const OpensslThread&) = delete;
  OpensslThread& operator=(const OpensslThread&) = delete;

 private:
  const Settings& settings_;
};

// Copies a text, cut to what there is room for.
void write_message(tma_jit_remote_message message, std::string_view text);

// Calls `verb` with the connection, and returns the status and the reason of its answer.
template <class Verb> tma_jit_remote_status answered(void* opened, tma_jit_remote_message message, const Verb& verb) {
  const auto& [settings, connection] = *static_cast<Opened*>(opened);
  const OpensslThread thread(settings);
  const Answer answer = verb(*connection);
  write_message(message, answer.reason);
  return static_cast<tma_jit_remote_status>(answer.status);
}

// The table of the engine whose connections `Made::open(Settings, reason)` makes; null with the reason if it cannot.
template <class Made> const tma_jit_remote_engine* engine_of() {
  static const tma_jit_remote_engine table = {
      sizeof(tma_jit_remote_engine),
      [](const tma_jit_remote_settings* given, tma_jit_remote_message message) -> void* {
        const Settings settings(*given);
        const OpensslThread thread(settings);
        std::string reason;
        std::unique_ptr<Connection> made = Made::open(settings, reason);
        write_message(message, reason);
        return made == nullptr ? nullptr : new Opened{settings, std::move(made)};
      },
      [](void* opened) {
        const std::unique_ptr<Opened> ended(static_cast<Opened*>(opened));
        const OpensslThread thread(ended->settings);
        ended->connection.reset();
      },
      [](void* opened, const char* key, tma_jit_remote_receiver receive, void* receiver,
         tma_jit_remote_message message) {
        return answered(opened, message,
                        [&](Connection& connection) { return connection.get(key, Receiver(receive, receiver)); });
      },
      [](void* opened, const char* key, const void* bytes, std::size_t count, tma_jit_remote_message message) {
        return answered(opened, message, [&](Connection& connection) {
          return connection.put(key, {static_cast<const std::byte*>(bytes), count});
        });
      },
      [](void* opened, const char* key, tma_jit_remote_message message) {
        return answered(opened, message, [&](Connection& connection) { return connection.exists(key); });
      },
      [](void* opened, tma_jit_remote_message message) {
        return answered(opened, message, [&](Connection& connection) { return connection.health(); });
      }};
  return &table;
}

}  // namespace tma_jit::remote
