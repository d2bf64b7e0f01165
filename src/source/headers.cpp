#include "source/headers.h"

#include <map>
#include <optional>
#include <utility>

#include "core/failure.h"
#include "source/header_scans.h"

namespace tma_jit::source {
namespace {

class Closure {
 public:
  explicit Closure(const HeaderLookup& lookup) : lookup_(lookup) {}

  Result<void> visit(std::string_view file, const Scan& found) {
    if (found.refusal) return refused(file, *found.refusal);
    pastes_ = pastes_ || found.pastes;
    if (found.fragment && !fragment_) fragment_ = {std::string(file), *found.fragment};
    for (const Directive& directive : found.directives) {
      if (directive.kind == Directive::Kind::include_quoted) TMA_JIT_CHECK(add(directive, file));
      if (directive.kind == Directive::Kind::include_angled || directive.kind == Directive::Kind::has_include) {
        TMA_JIT_CHECK(add_if_found(directive.argument));
      }
    }
    return {};
  }

  // Fails if a macro pastes (##) a fragment of a forbidden name.
  Result<void> check_pasting() const {
    if (pastes_ && fragment_) return refused(fragment_->first, fragment_->second);
    return {};
  }

  std::vector<Header> sorted() && {
    std::vector<Header> headers;
    for (auto& [name, text] : found_) headers.push_back({name, std::move(text)});
    return headers;
  }

 private:
  Result<void> add(const Directive& include, std::string_view file) {
    const std::string& name = include.argument;
    const std::string beside = sibling(file, name);
    if (const auto known = found_.find(name); known != found_.end()) {
      return same_target(known->second, beside, include, file);
    }
    Result<std::string> text = lookup_(name);
    if (text) return keep(name, std::move(*text));
    if (text.error().code != ErrorCode::not_found) return tl::make_unexpected(std::move(text).error());
    if (beside.empty() || !reach(beside)) return missing(include, file, text.error());
    return keep(name, forward_to(beside));
  }

  // A header that is not found here is not found by the compiler either, which has no folder to search.
  Result<void> add_if_found(const std::string& name) {
    if (found_.contains(name)) return {};
    Result<std::string> text = lookup_(name);
    if (text) return keep(name, std::move(*text));
    if (text.error().code != ErrorCode::not_found) return tl::make_unexpected(std::move(text).error());
    return {};
  }

  static tl::unexpected<Error> refused(std::string_view file, const Refusal& refusal) {
    return tl::make_unexpected(
        Error{ErrorCode::parse, fmt::format("{}:{}: refused: {}", file, refusal.line, refusal.what),
              "what the compiler reads must be part of the kernel's key, or the cache would give stale kernels"});
  }

  Result<void> keep(const std::string& name, std::string text) {
    const auto entry = found_.emplace(name, std::move(text)).first;
    return visit(name, *scan_of_header(name, entry->second));
  }

  // Returns whether the closure contains `name` or could.
  bool reach(const std::string& name) { return found_.contains(name) || lookup_(name).has_value(); }

  // Each name must mean one header throughout, because NVRTC finds virtual headers by the text of the #include.
  Result<void> same_target(const std::string& text, const std::string& beside, const Directive& include,
                           std::string_view file) {
    const bool forwards = text.starts_with(kForward);
    if (!forwards || beside.empty() || text == forward_to(beside) || !reach(beside)) return {};
    return failure(ErrorCode::invalid_argument,
                   "{}:{}: \"{}\" means {} here and another header elsewhere; write the full name", file, include.line,
                   include.argument, beside);
  }

  static tl::unexpected<Error> missing(const Directive& include, std::string_view file, const Error& reason) {
    Error error{ErrorCode::not_found,
                fmt::format("{}:{}: there is no header \"{}\"", file, include.line, include.argument), reason.line()};
    if (!reason.detail.empty()) error.detail += "\n" + reason.detail;
    return tl::make_unexpected(std::move(error));
  }

  static std::string sibling(std::string_view file, std::string_view name) {
    const std::size_t slash = file.rfind('/');
    if (slash == std::string_view::npos) return {};
    return std::string(file.substr(0, slash + 1)).append(name);
  }

  static std::string forward_to(const std::string& name) { return fmt::format("{}\"{}\"\n", kForward, name); }

  static constexpr std::string_view kForward = "#pragma once\n#include ";
  const HeaderLookup& lookup_;
  std::map<std::string, std::string> found_;
  bool pastes_ = false;
  std::optional<std::pair<std::string, Refusal>> fragment_;  // the first, with its file
};

}  // namespace

Result<std::vector<Header>> reachable_headers(const std::vector<Root>& roots, const HeaderLookup& lookup) {
  Closure closure(lookup);
  for (const Root& root : roots) TMA_JIT_CHECK(closure.visit(root.file, scan(root.text)));
  TMA_JIT_CHECK(closure.check_pasting());
  return std::move(closure).sorted();
}

}  // namespace tma_jit::source
