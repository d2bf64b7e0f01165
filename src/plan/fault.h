// Errors of planning; their messages start with the kernel's name.
#pragma once

#include <utility>

#include "core/failure.h"
#include "template/template.h"

namespace tma_jit::plan {

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fault(const templates::Template& kernel, ErrorCode code,
                                          fmt::format_string<Args...> format, Args&&... args) {
  return failure(code, "{}: {}", kernel.kernel, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tma_jit::plan
