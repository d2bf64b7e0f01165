// The result of a step of a command: a value, or an error with the exit code of the command.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tma_jit/error.h>

namespace tma_jit::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

struct Failure {
  Failure(Error the_error, int exit_code = kFailed) : error(std::move(the_error)), exit(exit_code) {}
  Error error;
  int exit;
};

template <class T> using Outcome = tl::expected<T, Failure>;

// The command worked, but the answer is negative.
template <class... Args>
[[nodiscard]] tl::unexpected<Failure> failed(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(Failure(Error{code, fmt::format(format, std::forward<Args>(args)...), {}}));
}

// The command line is wrong.
template <class... Args>
[[nodiscard]] tl::unexpected<Failure> usage(fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(
      Failure(Error{ErrorCode::invalid_argument, fmt::format(format, std::forward<Args>(args)...), {}}, kUsage));
}

// The command line has a value that the library rejected; `place` is where the user wrote it.
[[nodiscard]] inline tl::unexpected<Failure> usage_of(Error error, std::string_view place) {
  error.code = ErrorCode::invalid_argument;
  error.message = fmt::format("{}: {}", place, error.message);
  return tl::make_unexpected(Failure(std::move(error), kUsage));
}

// Adds to a failure that `name` is not among `known`: the reason, and the nearest known name as the suggestion.
[[nodiscard]] inline tl::unexpected<Failure> unknown_name(tl::unexpected<Failure> failure, std::string_view name,
                                                          std::span<const std::string> known) {
  failure.value().error.reason = ErrorReason::unknown_name;
  failure.value().error.suggestion = nearest_name(name, known);
  return failure;
}

}  // namespace tma_jit::cli

// Evaluates a Result or an Outcome; on failure returns it from the enclosing function, else binds the value.
#define CLI_JOIN_(a, b) a##b
#define CLI_JOIN(a, b) CLI_JOIN_(a, b)
#define CLI_ASSIGN_(temporary, declaration, ...)                                                                 \
  auto temporary = (__VA_ARGS__);                                                                                \
  if (!temporary.has_value()) return tl::make_unexpected(::tma_jit::cli::Failure(std::move(temporary).error())); \
  declaration = std::move(temporary).value()
#define CLI_ASSIGN(declaration, ...) CLI_ASSIGN_(CLI_JOIN(outcome_, __LINE__), declaration, __VA_ARGS__)
#define CLI_CHECK(...)                                                                  \
  do {                                                                                  \
    if (auto checked_ = (__VA_ARGS__); !checked_.has_value())                           \
      return tl::make_unexpected(::tma_jit::cli::Failure(std::move(checked_).error())); \
  } while (false)
