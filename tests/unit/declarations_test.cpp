// What a library's template declares of a problem, read without the rest of its manifest.
#include <algorithm>

#include <doctest/doctest.h>

#include "plan/problem.h"
#include "template/catalogue.h"
#include "tma_jit/device_info.h"

namespace tma_jit {
namespace {

// Returns a request without tensors that gives every dim a value.
Request request_of(const templates::Template& file) {
  Request request{.kernel = file.kernel};
  for (const templates::Dim& dim : file.dims) {
    if (!dim.value) request.dims[dim.name] = std::clamp<std::int64_t>(128, dim.min, dim.max);
  }
  return request;
}

}  // namespace

TEST_CASE("the declarations of a library's template tell the same problem as the whole of it") {
  templates::TemplateSet whole, parts;
  const DeviceInfo device = device_named("h200").value();
  int alone = 0, all = 0;
  for (const auto& file : whole.all()) {
    REQUIRE(file);
    ++all;
    const auto declared = parts.embedded_declarations((*file)->kernel, (*file)->stem());
    if (declared == nullptr) continue;
    ++alone;
    const Request request = request_of(**file);
    const auto wanted = plan::problem_of(**file, request, device);
    const auto found = plan::problem_of(*declared, request, device);
    CAPTURE((*file)->file());
    REQUIRE(wanted.has_value() == found.has_value());
    if (!wanted) continue;
    CHECK(found->types == wanted->types);
    CHECK(found->dims == wanted->dims);
    CHECK(std::ranges::equal(found->hooks, wanted->hooks,
                             [](const Hook& a, const Hook& b) { return a.name == b.name && a.text == b.text; }));
  }
  MESSAGE(alone << " of " << all << " can be read alone");
  CHECK(alone * 2 > all);
}

TEST_CASE("declarations are read alone only of the library's own files") {
  templates::TemplateSet set;
  CHECK(set.embedded_declarations("gemm", "gemm_wgmma") != nullptr);
  CHECK(set.embedded_declarations("gemm", "no_such_file") == nullptr);
  REQUIRE(set.add("own.cu",
                  "//! kernel own\n//! arch sm_90a\n//! dim N\n//! tensor Y : f32[N] out\n"
                  "//! launch grid 1 block 32\n"));
  CHECK(set.embedded_declarations("gemm", "gemm_wgmma") == nullptr);
}

}  // namespace tma_jit
