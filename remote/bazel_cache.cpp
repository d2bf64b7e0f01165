#include "remote/action_result.h"
#include "remote/http.h"
#include "remote/http_engines.h"
#include "remote/sha256.h"

namespace tma_jit::remote {
namespace {

constexpr std::size_t kActionBytesMax = 16 << 10;
constexpr std::string_view kFileName = "entry";

class Bazel final : public Connection {
 public:
  explicit Bazel(std::unique_ptr<Http> http)
      : http_(std::move(http)), base_(http_->origin() + http_->settings().path) {}

  // The blob may have been evicted although the action is there; that is a miss.
  Answer get(std::string_view key, const Receiver& receive) override {
    std::vector<std::byte> action;
    const Receiver into(
        [](void* to, const void* bytes, std::size_t count) -> std::int32_t {
          auto& kept = *static_cast<std::vector<std::byte>*>(to);
          if (count > kActionBytesMax - kept.size()) return 0;
          const auto* first = static_cast<const std::byte*>(bytes);
          kept.insert(kept.end(), first, first + count);
          return 1;
        },
        &action);
    Answer found = http_->send({.url = url_of("ac", key), .receive = &into});
    if (found.status != Status::ok) return found;
    const auto blob = output_of(action);
    if (!blob) return {Status::failed, "its ActionResult names no output file"};
    if (blob->bytes > http_->settings().bytes_max)
      return {Status::failed, "its ActionResult names a file of " + std::to_string(blob->bytes) + " bytes"};
    return http_->send({.url = url_of("cas", blob->sha256), .receive = &receive});
  }
  // The blob comes first: a server checks that what an action names is there.
  Answer put(std::string_view key, std::span<const std::byte> bytes) override {
    const Blob blob{sha256_hex(bytes), bytes.size()};
    Answer stored = http_->send({.method = Method::put, .url = url_of("cas", blob.sha256), .body = bytes});
    if (stored.status != Status::ok) return stored;
    const auto action = action_result(kFileName, blob);
    return http_->send({.method = Method::put, .url = url_of("ac", key), .body = action});
  }
  Answer exists(std::string_view key) override {
    return http_->send({.method = Method::head, .url = url_of("ac", key)});
  }
  // The empty blob is in every content-addressed store.
  Answer health() override {
    Answer answer = http_->send({.method = Method::head, .url = url_of("cas", sha256_hex({}))});
    return answer.status == Status::absent ? Answer{Status::ok} : answer;
  }

 private:
  std::string url_of(const char* store, std::string_view digest) const {
    return base_ + "/" + store + "/" + std::string(digest);
  }

  std::unique_ptr<Http> http_;
  const std::string base_;
};

}  // namespace

std::unique_ptr<Connection> BazelCache::open(Settings settings, std::string& reason) {
  auto http = Http::open(std::move(settings), reason);
  return http ? std::make_unique<Bazel>(std::move(http)) : nullptr;
}

}  // namespace tma_jit::remote
