// The URL of a remote cache, taken apart. What is shown of it has no credentials.
#pragma once

#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::cache {

struct RemoteUrl {
  std::string scheme;          // lower case: "https", "bazel+http"
  std::string user, password;  // decoded; empty if the URL has none
  std::string host;            // without the brackets of an address of IPv6; for S3 the bucket
  int port = 0;                // 0: the scheme's
  std::string path;            // "" or "/prefix", without a slash at its end
  std::string query;           // without the question mark
  std::string shown;           // "https://host:port/prefix", for messages
};

// Accepts scheme://[user[:password]@]host[:port][/path][?query]. The message of a failure has no part of the text,
// which may contain a password anywhere.
[[nodiscard]] Result<RemoteUrl> parse_remote_url(std::string_view text);

}  // namespace tma_jit::cache
