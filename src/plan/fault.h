// An error of planning: its message opens with the kernel's name.
#pragma once

#include <utility>

#include "base/failure.h"
#include "template/template.h"

namespace tma_jit::planning {

template <class... Args>
tl::unexpected<Error> fault(const manifest::Template& kernel, ErrorCode code, fmt::format_string<Args...> format,
                            Args&&... args) {
  return failure(code, "{}: {}", kernel.kernel, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tma_jit::planning
