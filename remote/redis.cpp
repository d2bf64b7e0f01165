#include "remote/redis.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include "remote/stream.h"

namespace tma_jit::remote {
namespace {

constexpr int kPort = 6379;
constexpr std::size_t kLineBytesMax = 1024;

struct ReplyFree {
  void operator()(redisReply* reply) const { ::freeReplyObject(reply); }
};
struct ReaderFree {
  void operator()(redisReader* reader) const { ::redisReaderFree(reader); }
};
using Reply = std::unique_ptr<redisReply, ReplyFree>;
using Reader = std::unique_ptr<redisReader, ReaderFree>;

std::string encoded(const std::vector<std::string_view>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* command = nullptr;
  const auto size = ::redisFormatCommandArgv(&command, static_cast<int>(words.size()), texts.data(), sizes.data());
  if (size < 0) return {};
  std::string text(command, static_cast<std::size_t>(size));
  ::redisFreeCommand(command);
  return text;
}

std::string reason_of(const redisReply& reply) {
  return {reply.str, std::min<std::size_t>(reply.len, 160)};
}

bool begins(const redisReply& reply, std::string_view code) {
  return std::string_view(reply.str, reply.len).starts_with(code);
}

Answer judged(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ERROR) return {Status::ok};
  for (const std::string_view denied : {"NOAUTH", "WRONGPASS", "NOPERM", "ERR invalid password", "ERR AUTH"}) {
    if (begins(reply, denied)) return {Status::denied, reason_of(reply)};
  }
  for (const std::string_view full : {"OOM", "MISCONF"}) {
    if (begins(reply, full)) return {Status::full, reason_of(reply)};
  }
  return {Status::failed, reason_of(reply)};
}

// Connected at the first verb, and again after a fault.
class RedisConnection final : public Connection {
 public:
  explicit RedisConnection(Settings settings) : settings_(std::move(settings)) {
    prefix_ = settings_.option("prefix");
    if (prefix_.empty()) prefix_ = "tma-jit:v1:";
    ttl_ = settings_.option("ttl");
  }

  Answer get(std::string_view key, const Receiver& receive) override {
    const Deadline deadline(settings_);
    Reply reply;
    Answer answer = ask({"GET", name_of(key)}, deadline, reply);
    if (answer.status != Status::ok) return answer;
    if (reply->type == REDIS_REPLY_NIL) return {Status::absent};
    if (reply->type != REDIS_REPLY_STRING) return {Status::failed, "its reply is not a string"};
    return receive(reply->str, reply->len) ? Answer{Status::ok} : Answer{Status::failed, "the answer is too long"};
  }
  Answer put(std::string_view key, std::span<const std::byte> bytes) override {
    const Deadline deadline(settings_);
    const std::string name = name_of(key);
    std::vector<std::string_view> words = {"SET", name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
    if (!ttl_.empty()) words.insert(words.end(), {"EX", ttl_});
    Reply reply;
    return ask(words, deadline, reply);
  }
  Answer exists(std::string_view key) override {
    const Deadline deadline(settings_);
    Reply reply;
    Answer answer = ask({"EXISTS", name_of(key)}, deadline, reply);
    if (answer.status != Status::ok) return answer;
    return {reply->type == REDIS_REPLY_INTEGER && reply->integer > 0 ? Status::ok : Status::absent};
  }
  Answer health() override {
    const Deadline deadline(settings_);
    Reply reply;
    return ask({"PING"}, deadline, reply);
  }

 private:
  std::string name_of(std::string_view key) const { return prefix_ + std::string(key); }

  // A connection that was idle may have been closed by the server: the command is then sent once more on a new one.
  Answer ask(const std::vector<std::string_view>& words, const Deadline& deadline, Reply& reply) {
    const bool reused = stream_ != nullptr;
    Answer answer = ask_once(words, deadline, reply);
    if (!reused || stream_ != nullptr || deadline.slice_ms() == 0) return answer;
    return ask_once(words, deadline, reply);
  }

  Answer ask_once(const std::vector<std::string_view>& words, const Deadline& deadline, Reply& reply) {
    if (!stream_) {
      if (Answer connected = connect(deadline); connected.status != Status::ok) return connected;
    }
    return exchange(words, deadline, reply);
  }

  Answer connect(const Deadline& deadline) {
    std::string reason;
    stream_ = Stream::connect(settings_, settings_.port != 0 ? settings_.port : kPort, settings_.scheme == "rediss",
                              deadline, reason);
    if (!stream_) return {Status::failed, reason};
    Reply reply;
    if (!settings_.password.empty()) {
      std::vector<std::string_view> words = {"AUTH"};
      if (!settings_.user.empty()) words.push_back(settings_.user);
      words.push_back(settings_.password);
      if (Answer answer = exchange(words, deadline, reply); answer.status != Status::ok) return dropped(answer);
    }
    if (settings_.path.size() > 1) {
      const std::string database = settings_.path.substr(1);
      Answer answer = exchange({"SELECT", database}, deadline, reply);
      if (answer.status != Status::ok) return dropped(answer);
    }
    return {Status::ok};
  }

  Answer dropped(Answer answer) {
    stream_.reset();
    return answer;
  }

  Answer exchange(const std::vector<std::string_view>& words, const Deadline& deadline, Reply& reply) {
    if (!stream_->write(encoded(words), deadline)) return dropped({Status::failed, "the connection was lost"});
    const char* fault = read(deadline, reply);
    return fault == nullptr ? judged(*reply) : dropped({Status::failed, fault});
  }

  // Returns the fault, or null. Only a plain reply is expected, and its length is checked before it is read: hiredis
  // would make an array as large as the server says.
  const char* read(const Deadline& deadline, Reply& reply) {
    const Reader reader(::redisReaderCreate());
    std::array<char, 16 << 10> buffer{};
    std::string head;
    bool checked = false;
    std::uint64_t total = 0;
    while (true) {
      const std::size_t count = stream_->read(buffer.data(), buffer.size(), deadline);
      if (count == 0) return deadline.slice_ms() == 0 ? "no complete answer in time" : "the connection was lost";
      total += count;
      if (total > settings_.bytes_max + kLineBytesMax) return "the answer is too long";
      if (!checked) {
        head.append(buffer.data(), count);
        const auto length = length_in(head);
        if (!length && (head.find("\r\n") != head.npos || head.size() > kLineBytesMax))
          return "its reply is no reply of Redis";
        if (length > settings_.bytes_max) return "the answer is too long";
        if (!length) continue;
        checked = true;
        (void)::redisReaderFeed(reader.get(), head.data(), head.size());
      } else {
        (void)::redisReaderFeed(reader.get(), buffer.data(), count);
      }
      void* made = nullptr;
      if (::redisReaderGetReply(reader.get(), &made) != REDIS_OK) return "its reply is no reply of Redis";
      if (made != nullptr) {
        reply.reset(static_cast<redisReply*>(made));
        return nullptr;
      }
    }
  }

  // Returns the length that a reply's first line states, 0 for a reply of one line; nullopt if the line is incomplete
  // or begins none of the replies to our commands.
  static std::optional<std::uint64_t> length_in(std::string_view head) {
    const std::size_t end = head.find("\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    if (head.front() == '+' || head.front() == '-' || head.front() == ':' || head.front() == '_') return 0;
    if (head.front() != '$') return std::nullopt;
    std::int64_t length = 0;
    const auto parsed = std::from_chars(head.data() + 1, head.data() + end, length);
    if (parsed.ptr != head.data() + end || length < -1) return std::nullopt;
    return length < 0 ? 0 : static_cast<std::uint64_t>(length);
  }

  const Settings settings_;
  std::string prefix_, ttl_;
  std::unique_ptr<Stream> stream_;
};

bool is_number(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::unique_ptr<Connection> Redis::open(Settings settings, std::string& reason) {
  if (!is_number(settings.option("ttl"))) reason = "its ttl is not a number of seconds";
  if (settings.path.size() > 1 && !is_number(settings.path.substr(1)))
    reason = "its path is not the number of a database";
  if (!reason.empty()) return nullptr;
  return std::make_unique<RedisConnection>(std::move(settings));
}

}  // namespace tma_jit::remote
