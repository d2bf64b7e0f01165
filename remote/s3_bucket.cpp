#include "remote/http.h"
#include "remote/http_engines.h"
#include "remote/sha256.h"

namespace tma_jit::remote {
namespace {

class S3 final : public Connection {
 public:
  S3(std::unique_ptr<Http> http, std::string base, std::string region)
      : http_(std::move(http)), base_(std::move(base)), region_(std::move(region)) {}

  Answer get(std::string_view key, const Receiver& receive) override {
    HttpRequest request = request_for(Method::get, key, {});
    request.receive = &receive;
    return http_->send(request);
  }
  Answer put(std::string_view key, std::span<const std::byte> bytes) override {
    return http_->send(request_for(Method::put, key, bytes));
  }
  Answer exists(std::string_view key) override { return http_->send(request_for(Method::head, key, {})); }
  // Asks for an object that is never written, because a listing takes a right of its own.
  Answer health() override {
    Answer answer = exists(std::string(64, '0'));
    return answer.status == Status::absent ? Answer{Status::ok} : answer;
  }

 private:
  // S3 demands the digest of the content in a signed header.
  HttpRequest request_for(Method method, std::string_view key, std::span<const std::byte> body) const {
    HttpRequest request{.method = method,
                        .url = base_ + "/v1/" + std::string(key.substr(0, 2)) + "/" + std::string(key.substr(2)),
                        .body = body,
                        .headers = {"x-amz-content-sha256: " + sha256_hex(body)},
                        .region = region_};
    if (!http_->settings().token.empty()) request.headers.push_back("x-amz-security-token: " + http_->settings().token);
    return request;
  }

  std::unique_ptr<Http> http_;
  const std::string base_, region_;
};

}  // namespace

std::unique_ptr<Connection> S3Bucket::open(Settings settings, std::string& reason) {
  std::string region = settings.option("region");
  if (region.empty()) region = "us-east-1";
  std::string endpoint = settings.option("endpoint");
  if (endpoint.empty()) endpoint = "https://s3." + region + ".amazonaws.com";
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (!endpoint.starts_with("https://") && !endpoint.starts_with("http://")) {
    reason = "its endpoint does not begin with https:// or http://";
    return nullptr;
  }
  if (settings.user.empty() || settings.password.empty()) {
    reason = "an S3 bucket needs an access key and its secret (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)";
    return nullptr;
  }
  std::string base = endpoint + "/" + settings.host + settings.path;
  auto http = Http::open(std::move(settings), reason);
  return http ? std::make_unique<S3>(std::move(http), std::move(base), std::move(region)) : nullptr;
}

}  // namespace tma_jit::remote
