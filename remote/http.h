// Requests over HTTP by libcurl, bounded in time and size.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "remote/engine.h"

using CURL = void;
using CURLM = void;
struct curl_slist;  // NOLINT(readability-identifier-naming): of libcurl

namespace tma_jit::remote {

enum class Method { get, put, head };

struct HttpRequest {
  Method method = Method::get;
  std::string url;
  std::span<const std::byte> body{};   // of a put
  std::vector<std::string> headers{};  // "Name: value"
  const Receiver* receive = nullptr;   // of a get's body, if the status is 200
  std::string region{};                // not empty: signed for S3 in this region
};

// One connection to a server, kept open between requests. No proxy, no redirect, no content coding, no other protocol
// than the URL's: what the server says never names another place.
class Http {
 public:
  // Returns null with the reason if libcurl cannot do what the settings ask for.
  static std::unique_ptr<Http> open(Settings settings, std::string& reason);
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  // The answer of the whole request: 2xx is ok, 404 and 410 absent, 401 and 403 denied, 413 and 507 full.
  Answer send(const HttpRequest& request);
  // The status of the last answer; 0 if there was none.
  long status() const { return status_; }
  const Settings& settings() const { return settings_; }
  // Returns "https://host:port".
  std::string origin() const;

 private:
  struct Body;
  explicit Http(Settings settings) : settings_(std::move(settings)) {}
  void prepare(const HttpRequest& request, Body& body, curl_slist* headers);
  void authenticate(const HttpRequest& request);
  int drive();
  Answer judged(int code, const Body& body) const;

  const Settings settings_;
  CURL* easy_ = nullptr;
  CURLM* multi_ = nullptr;
  long status_ = 0;
  std::string error_;
};

}  // namespace tma_jit::remote
