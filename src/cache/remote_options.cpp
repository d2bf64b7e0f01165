#include "cache/remote_options.h"

namespace tma_jit::cache {
namespace {

template <class Value> void fill(Value& value, const Value& from) {
  if (value.empty()) value = from;
}

RemoteRole role_of(const std::string& word) {
  if (word == "read-write" || word.empty()) return RemoteRole::read_write;
  return word == "write-only" ? RemoteRole::write_only : RemoteRole::read_only;
}

}  // namespace

void resolve(RemoteOptions& options, const ProcessEnvironment::Remote& environment) {
  fill(options.url, environment.url);
  if (!options.role) options.role = role_of(environment.role);
  const bool s3 = options.url.starts_with("s3://");
  const bool named = !options.user.empty();
  fill(options.user, environment.user);
  if (!named) fill(options.password, environment.password);
  fill(options.token, environment.token);
  if (s3 && options.user.empty()) {
    options.user = environment.aws_access_key;
    options.password = environment.aws_secret_key;
    fill(options.token, environment.aws_session_token);
  }
  if (s3 && !environment.aws_region.empty() && options.url.find("region=") == std::string::npos)
    options.url += (options.url.find('?') == std::string::npos ? "?region=" : "&region=") + environment.aws_region;
  fill(options.ca, environment.ca);
  fill(options.certificate, environment.certificate);
  fill(options.certificate_key, environment.certificate_key);
  fill(options.sign_key, environment.sign_key);
}

std::string shown(const RemoteOptions& options) {
  if (options.url.empty()) return {};
  const auto url = parse_remote_url(options.url);
  return url ? url->shown : "a URL that cannot be read";
}

RemoteAddress address_of(const RemoteOptions& options) {
  return {.url = options.url,
          .user = options.user,
          .password = options.password,
          .token = options.token,
          .ca = options.ca,
          .certificate = options.certificate,
          .certificate_key = options.certificate_key,
          .library = options.library};
}

}  // namespace tma_jit::cache
