// A translation unit whose key is known before the texts of its headers are read.
#pragma once

#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>

#include "source/shipped_headers.h"

namespace tma_jit::source {

// Either a whole source, or one that lacks the texts of its headers, all of which the library ships: these are read
// when the source is first asked for, which a kernel that is cached never is. For one thread at a time.
class Draft {
 public:
  Draft(Source source) : source_(std::move(source)), whole_(true) {}  // NOLINT(google-explicit-constructor)
  Draft(Source source, std::vector<HeaderDigest> headers) : source_(std::move(source)), headers_(std::move(headers)) {}

  const std::string& kernel() const { return source_.kernel; }
  const std::string& arch() const { return source_.arch; }
  // Returns key_of(source()).
  Key key(std::string_view compiler_identity) const;
  const Source& source() const;

 private:
  mutable Source source_;
  std::vector<HeaderDigest> headers_;
  mutable bool whole_ = false;
};

}  // namespace tma_jit::source
