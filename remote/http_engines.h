// The engines that speak HTTP: a plain server, an S3 bucket, a remote cache of Bazel.
#pragma once

#include <memory>
#include <string>

#include "remote/engine.h"

namespace tma_jit::remote {

// GET, PUT and HEAD of <url>/v1/<2 digits>/<62 digits>, the names that a cache folder has: a server of files whose root
// is such a folder is a remote cache that can be read.
struct PlainServer {
  static std::unique_ptr<Connection> open(Settings settings, std::string& reason);
};

// s3://bucket/prefix?region=R&endpoint=https://host:port: the same names as objects of a bucket, addressed by path and
// signed with AWS Signature 4. The endpoint is Amazon's in the region unless it is given.
struct S3Bucket {
  static std::unique_ptr<Connection> open(Settings settings, std::string& reason);
};

// <url>/ac/<key> is an ActionResult whose one output file names the entry's content, <url>/cas/<its SHA-256>.
struct BazelCache {
  static std::unique_ptr<Connection> open(Settings settings, std::string& reason);
};

}  // namespace tma_jit::remote
