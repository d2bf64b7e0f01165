#include "cache/remote_url.h"

#include <doctest/doctest.h>

#include "base/environment.h"
#include "cache/remote_options.h"

namespace tma_jit {

using cache::parse_remote_url;

TEST_CASE("the parts of a URL, and what is shown of it") {
  const auto url = parse_remote_url("bazel+https://al%40ice:pa%3Ass@cache.example:8443/a/b/?x=1&y=2");
  REQUIRE(url);
  CHECK(url->scheme == "bazel+https");
  CHECK(url->user == "al@ice");
  CHECK(url->password == "pa:ss");
  CHECK(url->host == "cache.example");
  CHECK(url->port == 8443);
  CHECK(url->path == "/a/b");
  CHECK(url->query == "x=1&y=2");
  CHECK(url->shown == "bazel+https://cache.example:8443/a/b");

  const auto literal = parse_remote_url("http://[::1]:80");
  REQUIRE(literal);
  CHECK(literal->host == "::1");
  CHECK(literal->port == 80);
  CHECK(literal->shown == "http://[::1]:80");

  const auto bucket = parse_remote_url("s3://kernels?region=eu");
  REQUIRE(bucket);
  CHECK(bucket->host == "kernels");
  CHECK(bucket->query == "region=eu");
  CHECK(parse_remote_url("redis://:s3cret@host")->password == "s3cret");
}

TEST_CASE("a URL that is none is refused without a word of it") {
  for (const char* text : {"", "s3cret", "://s3cret", "http://", "http://s3cret@", "http://h:0/s3cret",
                           "http://h:65536", "http://h:s3cret", "http://[::1/s3cret", "http://[::1]s3cret",
                           "HTTP://s3cret", "http://h/s3cret#x", "http://h/s3 cret", "http://h/\ns3cret"}) {
    const auto url = parse_remote_url(text);
    REQUIRE(!url);
    CHECK(url.error().message.find("s3cret") == std::string::npos);
    CHECK(url.error().message.find("scheme://") != std::string::npos);
  }
}

TEST_CASE("what the options leave out comes from the environment; Amazon's names count for S3 only") {
  ProcessEnvironment::Remote environment;
  environment.url = "s3://bucket?endpoint=x";
  environment.role = "read-only";
  environment.aws_access_key = "access";
  environment.aws_secret_key = "secret";
  environment.aws_region = "eu-west-1";
  RemoteOptions options;
  cache::resolve(options, environment);
  CHECK(options.url == "s3://bucket?endpoint=x&region=eu-west-1");
  CHECK(options.role == RemoteRole::read_only);
  CHECK(options.user == "access");
  CHECK(options.password == "secret");

  RemoteOptions own{.url = "https://host", .role = RemoteRole::write_only};
  environment.password = "of another user";
  own.user = "me";
  cache::resolve(own, environment);
  CHECK(own.url == "https://host");
  CHECK(own.role == RemoteRole::write_only);
  CHECK(own.user == "me");
  CHECK(own.password.empty());

  environment.role = "raed-write";
  RemoteOptions careful;
  cache::resolve(careful, environment);
  CHECK(careful.role == RemoteRole::read_only);
}

}  // namespace tma_jit
