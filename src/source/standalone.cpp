// Replaces #includes by the text of the headers, so that one file contains the whole translation unit.
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/failure.h"
#include "source/emit.h"
#include "source/preamble.h"
#include "source/preprocessor_lines.h"

namespace tma_jit::source {
namespace {

constexpr int kDepthLimit = 64;

class Paster {
 public:
  explicit Paster(const std::vector<Header>& headers) {
    for (const Header& header : headers) headers_.emplace(header.name, &header);
  }

  // Appends `text` with its includes replaced. `conditions` is the number of enclosing #if blocks.
  void paste(std::string_view file, std::string_view text, int conditions, int depth = 0) {
    Position at{std::string(file), 1, 1};
    std::size_t copied = 0;
    for (const Directive& directive : scan(text).directives) {
      if (directive.kind == Directive::Kind::open) ++conditions;
      if (directive.kind == Directive::Kind::close) --conditions;
      if (directive.kind == Directive::Kind::line) at = position_of(directive, at);
      if (!replaced(directive)) continue;
      out_.append(text.substr(copied, directive.begin - copied));
      copied = directive.end;
      if (is_include(directive)) include(directive.argument, conditions, depth);
      out_ += line_directive(at.presumed(directive.next_line), at.file);
    }
    out_.append(text.substr(copied));
    if (!out_.ends_with('\n')) out_.push_back('\n');
  }

  std::string take() && { return std::move(out_); }

 private:
  // The position that #line gives the current line; `line` is relative to `since`, a line of the pasted text.
  struct Position {
    std::string file;
    int line;
    int since;
    std::size_t presumed(int physical) const { return static_cast<std::size_t>(line + physical - since); }
  };

  static Position position_of(const Directive& directive, const Position& before) {
    const std::string& operand = directive.argument;
    const std::size_t open = operand.find('"');
    const std::size_t close = operand.rfind('"');
    Position at{before.file, std::atoi(operand.c_str()), directive.next_line};
    if (open == std::string::npos || close <= open) return at;
    at.file.clear();
    for (std::size_t i = open + 1; i < close; ++i) {
      if (operand[i] == '\\') ++i;
      at.file.push_back(operand[i]);
    }
    return at;
  }

  bool replaced(const Directive& directive) const {
    if (directive.kind == Directive::Kind::pragma_once) return true;
    return is_include(directive) && headers_.contains(directive.argument);
  }

  static bool is_include(const Directive& directive) {
    return directive.kind == Directive::Kind::include_quoted || directive.kind == Directive::Kind::include_angled;
  }

  // A header with #pragma once is pasted once. As long as it has been pasted only inside #if blocks, it is pasted again
  // with a guard, so that the first active copy is used.
  void include(const std::string& name, int conditions, int depth) {
    if (done_.contains(name) || depth > kDepthLimit) return;
    const Header& header = *headers_.at(name);
    const bool once = is_once(header.text);
    if (once && conditions == 0) done_.insert(name);
    const std::string guard = once ? guard_name(name) : std::string();
    if (once) out_ += fmt::format("#ifndef {0}\n#define {0}\n", guard);
    out_ += line_directive(1, name);
    paste(name, header.text, conditions, depth + 1);
    if (once) out_ += "#endif\n";
  }

  static bool is_once(std::string_view text) {
    for (const Directive& directive : scan(text).directives) {
      if (directive.kind == Directive::Kind::pragma_once) return true;
    }
    return false;
  }

  static std::string guard_name(std::string_view name) {
    std::string guard = "TMA_JIT_PASTED_";
    for (const char c : name) guard += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return guard;
  }

  std::map<std::string, const Header*> headers_;
  std::set<std::string> done_;
  std::string out_;
};

}  // namespace

Result<std::string> standalone(const Plan& plan, const EmitOptions& options) {
  TMA_JIT_ASSIGN(const Source source, emit(plan, options));
  return fmt::format("// {}, configured for {}. Compile with: nvcc -arch={} -cubin FILE.cu\n", plan.kernel, plan.arch,
                     plan.arch) +
         standalone(source);
}

std::string standalone(const Source& source) {
  Paster paster(source.headers);
  paster.paste(source.name, source.text, 0);
  return std::move(paster).take();
}

}  // namespace tma_jit::source
