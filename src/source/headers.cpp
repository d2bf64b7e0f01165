#include "source/headers.h"

#include <map>
#include <optional>

#include "base/failure.h"
#include "source/directives.h"

namespace tma_jit::emission {
namespace {

class Closure {
 public:
  explicit Closure(const HeaderLookup& lookup) : lookup_(lookup) {}

  Result<void> visit(std::string_view file, std::string_view text) {
    for (const Directive& directive : directives_of(text)) {
      if (directive.kind == Directive::Kind::include_quoted) TMA_JIT_CHECK(add(directive, file));
    }
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

  Result<void> keep(const std::string& name, std::string text) {
    const auto entry = found_.emplace(name, std::move(text)).first;
    return visit(name, entry->second);
  }

  // True when the closure holds `name` or could.
  bool reach(const std::string& name) { return found_.contains(name) || lookup_(name).has_value(); }

  // One name must mean one header throughout: NVRTC finds virtual headers by what the #include says.
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
                fmt::format("{}:{}: there is no header \"{}\"", file, include.line, include.argument), reason.message};
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
};

}  // namespace

Result<std::vector<Header>> reachable_headers(const std::vector<Root>& roots, const HeaderLookup& lookup) {
  Closure closure(lookup);
  for (const Root& root : roots) TMA_JIT_CHECK(closure.visit(root.file, root.text));
  return std::move(closure).sorted();
}

}  // namespace tma_jit::emission
