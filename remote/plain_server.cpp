#include "remote/http.h"
#include "remote/http_engines.h"

namespace tma_jit::remote {
namespace {

class Plain final : public Connection {
 public:
  explicit Plain(std::unique_ptr<Http> http)
      : http_(std::move(http)), base_(http_->origin() + http_->settings().path) {}

  Answer get(std::string_view key, const Receiver& receive) override {
    return http_->send({.url = url_of(key), .receive = &receive});
  }
  Answer put(std::string_view key, std::span<const std::byte> bytes) override {
    return http_->send({.method = Method::put, .url = url_of(key), .body = bytes});
  }
  Answer exists(std::string_view key) override { return http_->send({.method = Method::head, .url = url_of(key)}); }
  // A folder's own address need not be served: any answer but a refusal or a fault shows that the server is there.
  Answer health() override {
    Answer answer = http_->send({.method = Method::head, .url = base_ + "/v1/"});
    if (http_->status() == 403 || http_->status() == 404 || http_->status() == 405) answer = {Status::ok};
    return answer;
  }

 private:
  std::string url_of(std::string_view key) const {
    return base_ + "/v1/" + std::string(key.substr(0, 2)) + "/" + std::string(key.substr(2));
  }

  std::unique_ptr<Http> http_;
  const std::string base_;
};

}  // namespace

std::unique_ptr<Connection> PlainServer::open(Settings settings, std::string& reason) {
  auto http = Http::open(std::move(settings), reason);
  return http ? std::make_unique<Plain>(std::move(http)) : nullptr;
}

}  // namespace tma_jit::remote
