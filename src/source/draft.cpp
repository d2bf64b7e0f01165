#include "source/draft.h"

#include "source/key.h"
#include "template/embedded_templates.h"

namespace tma_jit::source {

Key Draft::key(std::string_view compiler_identity) const {
  return whole_ ? key_of(source_, compiler_identity) : key_of(source_, headers_, compiler_identity);
}

// The headers are parts of the library, so that none is missing.
const Source& Draft::source() const {
  if (whole_) return source_;
  for (const HeaderDigest& header : headers_) {
    source_.headers.push_back({header.name, *templates::header_in(templates::embedded_templates(), header.name)});
  }
  whole_ = true;
  return source_;
}

}  // namespace tma_jit::source
