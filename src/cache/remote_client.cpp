#include "cache/remote_client.h"

#include <array>

#include "base/fork.h"
#include "cache/remote_entry.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

constexpr std::size_t kMessageBytes = 400;
constexpr std::chrono::milliseconds kConnectMax{3'000};

// Takes an entry's bytes as long as they are not more than an entry may have.
std::int32_t receive(void* into, const void* bytes, std::size_t count) {
  auto& kept = *static_cast<std::vector<std::byte>*>(into);
  if (count > kRemoteBytesMax - kept.size()) return 0;
  const auto* first = static_cast<const std::byte*>(bytes);
  kept.insert(kept.end(), first, first + count);
  return 1;
}

// Replaces control characters of a server's text, so that a message stays one line and harmless to a terminal.
std::string one_line(const char* text) {
  std::string line = text;
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return line;
}

}  // namespace

RemoteClient::RemoteClient(RemoteEngine engine, RemoteUrl url, RemoteAddress address, std::chrono::milliseconds limit)
    : engine_(std::move(engine)), url_(std::move(url)), address_(std::move(address)), limit_(limit) {}

Result<std::shared_ptr<RemoteClient>> RemoteClient::open(const RemoteAddress& address,
                                                         std::chrono::milliseconds limit) {
  TMA_JIT_ASSIGN(RemoteUrl url, parse_remote_url(address.url));
  TMA_JIT_ASSIGN(RemoteEngine engine, remote_engine(url.scheme, address.library));
  std::shared_ptr<RemoteClient> client(new RemoteClient(std::move(engine), std::move(url), address, limit));
  TMA_JIT_ASSIGN(void* first, client->connect());
  client->idle_.push_back(first);
  return client;
}

RemoteClient::~RemoteClient() {
  for (void* connection : idle_) engine_.table.close(connection);
}

Result<void*> RemoteClient::connect() {
  const bool named = !url_.user.empty() || !url_.password.empty();
  const auto limit_ms = static_cast<std::int32_t>(std::min<std::int64_t>(limit_.count(), 1 << 30));
  tma_jit_remote_settings settings{};
  settings.size = sizeof settings;
  settings.scheme = url_.scheme.c_str();
  settings.host = url_.host.c_str();
  settings.port = url_.port;
  settings.path = url_.path.c_str();
  settings.query = url_.query.c_str();
  settings.user = named ? url_.user.c_str() : address_.user.c_str();
  settings.password = named ? url_.password.c_str() : address_.password.c_str();
  settings.token = address_.token.c_str();
  settings.ca = address_.ca.c_str();
  settings.certificate = address_.certificate.c_str();
  settings.private_key = address_.certificate_key.c_str();
  settings.connect_ms = static_cast<std::int32_t>(std::min(limit_, kConnectMax).count());
  settings.total_ms = limit_ms;
  settings.bytes_max = kRemoteBytesMax;
  settings.guard = &cancelled_;
  settings.enter = [](void*) { hold_forks(); };
  settings.leave = [](void*) { allow_forks(); };
  settings.cancelled = [](void* guard) -> std::int32_t {
    return static_cast<std::atomic<bool>*>(guard)->load() ? 1 : 0;
  };
  std::array<char, kMessageBytes> text{};
  const NoFork no_fork;
  void* made = engine_.table.open(&settings, {text.data(), text.size()});
  if (made == nullptr)
    return failure(ErrorCode::invalid_argument, "remote cache {}: {}", name(), one_line(text.data()));
  return made;
}

// Takes an idle connection or makes one. The mutex is held for a moment only, and not while a fork can happen.
template <class Verb> RemoteClient::Reply RemoteClient::with_connection(Verb verb) {
  void* connection = nullptr;
  {
    const NoFork no_fork;
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      connection = idle_.back();
      idle_.pop_back();
    }
  }
  Reply reply;
  if (connection == nullptr) {
    auto made = connect();
    if (!made) {
      reply.reason = made.error().message;
      return reply;
    }
    connection = *made;
  }
  std::array<char, kMessageBytes> text{};
  reply.status = verb(connection, reply, tma_jit_remote_message{text.data(), text.size()});
  if (reply.status < TMA_JIT_REMOTE_OK || reply.status > TMA_JIT_REMOTE_FULL) reply.status = TMA_JIT_REMOTE_FAILED;
  reply.reason = one_line(text.data());
  const NoFork no_fork;
  const std::lock_guard lock(mutex_);
  idle_.push_back(connection);
  return reply;
}

RemoteClient::Reply RemoteClient::get(const Key& key) {
  return with_connection([&](void* connection, Reply& reply, tma_jit_remote_message message) {
    const auto status = engine_.table.get(connection, to_hex(key.bytes).c_str(), receive, &reply.bytes, message);
    if (status != TMA_JIT_REMOTE_OK) reply.bytes.clear();
    return status;
  });
}

RemoteClient::Reply RemoteClient::put(const Key& key, std::span<const std::byte> bytes) {
  return with_connection([&](void* connection, Reply&, tma_jit_remote_message message) {
    return engine_.table.put(connection, to_hex(key.bytes).c_str(), bytes.data(), bytes.size(), message);
  });
}

RemoteClient::Reply RemoteClient::exists(const Key& key) {
  return with_connection([&](void* connection, Reply&, tma_jit_remote_message message) {
    return engine_.table.exists(connection, to_hex(key.bytes).c_str(), message);
  });
}

RemoteClient::Reply RemoteClient::health() {
  return with_connection([&](void* connection, Reply&, tma_jit_remote_message message) {
    return engine_.table.health(connection, message);
  });
}

}  // namespace tma_jit::cache
