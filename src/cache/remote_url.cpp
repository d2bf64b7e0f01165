#include "cache/remote_url.h"

#include <algorithm>
#include <charconv>

#include "core/failure.h"

namespace tma_jit::cache {
namespace {

bool is_scheme_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    const bool escaped =
        text[i] == '%' && text.size() - i > 2 && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    plain += escaped ? static_cast<char>(value) : text[i];
    i += escaped ? 2 : 0;
  }
  return plain;
}

tl::unexpected<Error> wrong(std::string_view what) {
  return failure(ErrorCode::invalid_argument,
                 "the URL of the remote cache {}; it is scheme://[user:password@]host[:port][/path][?options]", what);
}

Result<void> set_port(RemoteUrl& url, std::string_view text) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), url.port);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || url.port < 1 || url.port > 65535)
    return wrong("has no port from 1 to 65535 after its colon");
  return {};
}

Result<void> set_host(RemoteUrl& url, std::string_view text) {
  const bool literal = text.starts_with('[');
  const std::size_t end = literal ? text.find(']') : std::min(text.find(':'), text.size());
  if (literal && end == std::string_view::npos) return wrong("has no closing bracket");
  url.host = text.substr(literal ? 1 : 0, literal ? end - 1 : end);
  const std::string_view rest = text.substr(literal ? end + 1 : end);
  if (url.host.empty()) return wrong("names no host");
  if (rest.empty()) return {};
  return rest.front() == ':' ? set_port(url, rest.substr(1)) : Result<void>(wrong("has text after its host"));
}

}  // namespace

Result<RemoteUrl> parse_remote_url(std::string_view text) {
  RemoteUrl url;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return wrong("has no scheme");
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c == 0x7f || c == '#'; }))
    return wrong("has a space, a control character or a fragment");
  url.scheme = text.substr(0, colon);
  if (!std::all_of(url.scheme.begin(), url.scheme.end(), is_scheme_letter))
    return wrong("has a scheme that is not of lower-case letters");
  std::string_view rest = text.substr(colon + 3);
  const std::size_t question = std::min(rest.find('?'), rest.size());
  url.query = rest.substr(std::min(question + 1, rest.size()));
  rest = rest.substr(0, question);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  std::string_view authority = rest.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view owner = authority.substr(0, at);
    const std::size_t split = std::min(owner.find(':'), owner.size());
    url.user = decoded(owner.substr(0, split));
    url.password = decoded(owner.substr(std::min(split + 1, owner.size())));
    authority.remove_prefix(at + 1);
  }
  TMA_JIT_CHECK(set_host(url, authority));
  url.shown = fmt::format("{}://{}{}", url.scheme, authority, url.path);
  return url;
}

}  // namespace tma_jit::cache
