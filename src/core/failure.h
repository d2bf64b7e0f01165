// Short forms to create an Error and to pass one on.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tma_jit/error.h>

namespace tma_jit {

template <class... Args>
[[nodiscard]] tl::unexpected<Error> failure(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...), {}});
}

template <class... Args>
[[nodiscard]] tl::unexpected<Error> failure(ErrorCode code, ErrorReason reason, fmt::format_string<Args...> format,
                                            Args&&... args) {
  return tl::make_unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...), {}, reason});
}

// Adds to a failure that `name` is not among `known`: the reason, and the nearest known name as the suggestion.
[[nodiscard]] inline tl::unexpected<Error> unknown_name(tl::unexpected<Error> failure, std::string_view name,
                                                        std::span<const std::string> known) {
  failure.value().reason = ErrorReason::unknown_name;
  failure.value().suggestion = nearest_name(name, known);
  return failure;
}

}  // namespace tma_jit

// Evaluates a Result; on failure returns its error from the enclosing function, else binds the value.
#define TMA_JIT_JOIN_(a, b) a##b
#define TMA_JIT_JOIN(a, b) TMA_JIT_JOIN_(a, b)
#define TMA_JIT_ASSIGN_(temporary, declaration, ...)                                    \
  auto temporary = (__VA_ARGS__);                                                       \
  if (!temporary.has_value()) return tl::make_unexpected(std::move(temporary).error()); \
  declaration = std::move(temporary).value()
#define TMA_JIT_ASSIGN(declaration, ...) TMA_JIT_ASSIGN_(TMA_JIT_JOIN(result_, __LINE__), declaration, __VA_ARGS__)
#define TMA_JIT_CHECK(...)                                                                                             \
  do {                                                                                                                 \
    if (auto checked_ = (__VA_ARGS__); !checked_.has_value()) return tl::make_unexpected(std::move(checked_).error()); \
  } while (false)
