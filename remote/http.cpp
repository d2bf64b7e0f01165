#include "remote/http.h"

#include <curl/curl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace tma_jit::remote {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 20;                       // between two looks at whether the request is cancelled
constexpr std::size_t kOtherBytesMax = 64 << 10;  // of headers, and of the body of an answer that is not 200
// A body of more than 1 MiB waits so long for "100 Continue". libcurl 7.88 cannot be told to do without by an empty
// Expect header, because it would sign that header for S3 and not send it.
constexpr long kContinueMs = 200;
// A transfer of less than so many bytes a second for a third of its limit, at least a second, is given up.
constexpr long kLowSpeedBytes = 1024, kLimitMsASecond = 3000;
constexpr unsigned kSigned = 0x075800;  // 7.88: the first libcurl here known to sign every x-amz- header

bool started() {
  static const bool done = ::curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return done;
}

// No program that this one starts gets the socket.
curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

template <class Value> void set(CURL* easy, CURLoption option, Value value) {
  (void)::curl_easy_setopt(easy, option, value);
}

}  // namespace

// What the callbacks of one request share.
struct Http::Body {
  CURL* easy;
  const Receiver* receive;
  std::size_t other = 0;
  bool too_long = false;

  bool wanted() const {
    long status = 0;
    (void)::curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return receive != nullptr && status == 200;
  }
  std::size_t count_other(std::size_t count) {
    other += count;
    too_long = too_long || other > kOtherBytesMax;
    return too_long ? 0 : count;
  }
  static std::size_t write(char* bytes, std::size_t, std::size_t count, void* self) {
    auto& body = *static_cast<Body*>(self);
    if (!body.wanted()) return body.count_other(count);
    body.too_long = !(*body.receive)(bytes, count);
    return body.too_long ? 0 : count;
  }
  static std::size_t header(char*, std::size_t, std::size_t count, void* self) {
    return static_cast<Body*>(self)->count_other(count);
  }
};

std::unique_ptr<Http> Http::open(Settings settings, std::string& reason) {
  std::unique_ptr<Http> made(new Http(std::move(settings)));
  if (started()) made->easy_ = ::curl_easy_init();
  if (started()) made->multi_ = ::curl_multi_init();
  if (made->easy_ != nullptr && made->multi_ != nullptr) return made;
  reason = "libcurl cannot be started";
  return nullptr;
}

Http::~Http() {
  const NoFork no_fork(settings_);
  if (easy_ != nullptr) ::curl_easy_cleanup(easy_);
  if (multi_ != nullptr) (void)::curl_multi_cleanup(multi_);
}

std::string Http::origin() const {
  const bool literal = settings_.host.find(':') != std::string::npos;
  return (settings_.scheme.ends_with("https") ? "https://" : "http://") +
         (literal ? "[" + settings_.host + "]" : settings_.host) +
         (settings_.port != 0 ? ":" + std::to_string(settings_.port) : "");
}

void Http::authenticate(const HttpRequest& request) {
  if (!request.region.empty()) {
    set(easy_, CURLOPT_AWS_SIGV4, ("aws:amz:" + request.region + ":s3").c_str());
    set(easy_, CURLOPT_USERNAME, settings_.user.c_str());
    set(easy_, CURLOPT_PASSWORD, settings_.password.c_str());
  } else if (!settings_.token.empty()) {
    set(easy_, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    set(easy_, CURLOPT_XOAUTH2_BEARER, settings_.token.c_str());
  } else if (!settings_.user.empty()) {
    set(easy_, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(easy_, CURLOPT_USERNAME, settings_.user.c_str());
    set(easy_, CURLOPT_PASSWORD, settings_.password.c_str());
  }
  if (!settings_.ca.empty()) set(easy_, CURLOPT_CAINFO, settings_.ca.c_str());
  if (!settings_.certificate.empty()) set(easy_, CURLOPT_SSLCERT, settings_.certificate.c_str());
  if (!settings_.private_key.empty()) set(easy_, CURLOPT_SSLKEY, settings_.private_key.c_str());
}

// An empty proxy keeps libcurl from asking the environment for one.
void Http::prepare(const HttpRequest& request, Body& body, curl_slist* headers) {
  ::curl_easy_reset(easy_);
  set(easy_, CURLOPT_URL, request.url.c_str());
  set(easy_, CURLOPT_NOSIGNAL, 1L);
  set(easy_, CURLOPT_PROXY, "");
  set(easy_, CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
  set(easy_, CURLOPT_PROTOCOLS_STR, request.url.starts_with("https:") ? "https" : "http");
#else
  set(easy_, CURLOPT_PROTOCOLS,
      static_cast<long>(request.url.starts_with("https:") ? CURLPROTO_HTTPS : CURLPROTO_HTTP));
#endif
  set(easy_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(easy_, CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(easy_, CURLOPT_USERAGENT, "tma-jit");
  set(easy_, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings_.connect_ms));
  set(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(settings_.total_ms));
  set(easy_, CURLOPT_LOW_SPEED_LIMIT, kLowSpeedBytes);
  set(easy_, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(settings_.total_ms) / kLimitMsASecond));
  set(easy_, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(settings_.bytes_max));
  set(easy_, CURLOPT_HTTPHEADER, headers);
  set(easy_, CURLOPT_HEADERFUNCTION, &Body::header);
  set(easy_, CURLOPT_HEADERDATA, &body);
  set(easy_, CURLOPT_WRITEFUNCTION, &Body::write);
  set(easy_, CURLOPT_WRITEDATA, &body);
  set(easy_, CURLOPT_ERRORBUFFER, error_.data());
  if (request.method == Method::head) set(easy_, CURLOPT_NOBODY, 1L);
  if (request.method == Method::put) {
    set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(easy_, CURLOPT_POSTFIELDS, reinterpret_cast<const char*>(request.body.data()));
    set(easy_, CURLOPT_CUSTOMREQUEST, "PUT");
    set(easy_, CURLOPT_EXPECT_100_TIMEOUT_MS, kContinueMs);
  }
  authenticate(request);
}

// Runs the request on the multi handle, whose steps never wait, so that a fork waits for a step and not for the server.
int Http::drive() {
  {
    const NoFork no_fork(settings_);
    if (::curl_multi_add_handle(multi_, easy_) != CURLM_OK) return CURLE_FAILED_INIT;
  }
  int code = CURLE_ABORTED_BY_CALLBACK;
  const auto limit = Clock::now() + std::chrono::milliseconds(settings_.total_ms + 2 * kPollMs);
  while (settings_.cancelled(settings_.guard) == 0 && Clock::now() < limit) {
    int running = 0, left = 0;
    const NoFork no_fork(settings_);
    if (::curl_multi_perform(multi_, &running) != CURLM_OK) break;
    if (const CURLMsg* message = ::curl_multi_info_read(multi_, &left); message != nullptr) {
      code = message->data.result;
      break;
    }
    settings_.leave(settings_.guard);
    (void)::curl_multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
    settings_.enter(settings_.guard);
  }
  const NoFork no_fork(settings_);
  (void)::curl_multi_remove_handle(multi_, easy_);
  return code;
}

Answer Http::judged(int code, const Body& body) const {
  if (body.too_long || code == CURLE_FILESIZE_EXCEEDED)
    return {Status::failed, "the answer is longer than " + std::to_string(settings_.bytes_max) + " bytes"};
  if (code == CURLE_OPERATION_TIMEDOUT || code == CURLE_ABORTED_BY_CALLBACK)
    return {Status::failed, "no complete answer in time"};
  if (code != CURLE_OK) {
    const std::string_view told = std::string_view(error_).substr(0, error_.find('\0'));
    return {Status::failed, told.empty() ? ::curl_easy_strerror(static_cast<CURLcode>(code)) : std::string(told)};
  }
  if (status_ >= 200 && status_ < 300) return {Status::ok};
  if (status_ == 404 || status_ == 410) return {Status::absent};
  const std::string text = "HTTP status " + std::to_string(status_);
  if (status_ == 401 || status_ == 403) return {Status::denied, text};
  if (status_ == 413 || status_ == 507) return {Status::full, text};
  if (status_ >= 300 && status_ < 400) return {Status::failed, text + ": redirects are not followed"};
  return {Status::failed, text};
}

Answer Http::send(const HttpRequest& request) {
  if (!request.region.empty() && ::curl_version_info(CURLVERSION_NOW)->version_num < kSigned)
    return {Status::failed, std::string("libcurl ") + LIBCURL_VERSION + " cannot sign for S3; 7.88 can"};
  error_.assign(CURL_ERROR_SIZE, '\0');
  curl_slist* headers = nullptr;
  for (const std::string& header : request.headers) headers = ::curl_slist_append(headers, header.c_str());
  if (request.method == Method::put) headers = ::curl_slist_append(headers, "Content-Type: application/octet-stream");
  Body body{easy_, request.receive};
  {
    const NoFork no_fork(settings_);
    prepare(request, body, headers);
  }
  const int code = drive();
  status_ = 0;
  (void)::curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status_);
  Answer answer = judged(code, body);
  ::curl_easy_reset(easy_);
  ::curl_slist_free_all(headers);
  return answer;
}

}  // namespace tma_jit::remote
