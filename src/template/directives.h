// One function a directive: reads the rest of its line into the template that is being built.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "template/line_parser.h"
#include "template/names.h"
#include "template/template.h"

namespace tma_jit::templates {

// The template so far, and what has been declared where.
struct Builder {
  Template result;
  NameTable names;
  std::map<std::string, Position, std::less<>> seen;  // directives that may stand only once
};

using Directive = Result<void> (*)(LineParser& line, Builder& builder);

// nullptr when there is no such directive.
Directive find_directive(std::string_view name);
std::vector<std::string> directive_names();
// True of those a manifest may hold once.
bool is_single(std::string_view directive);

// Takes the next name as a new one; fails when it is declared already or cannot be declared.
[[nodiscard]] Result<Token> declare(LineParser& line, Builder& builder, NameKind kind);

[[nodiscard]] Result<void> parse_kernel(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_arch(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_type(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_dim(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_param(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_let(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_require(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_tensor(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_scalar(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_workspace(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_hook(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_cluster(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_launch(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_work(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_preset(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_reference(LineParser& line, Builder& builder);

}  // namespace tma_jit::templates
