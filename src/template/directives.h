// One function per directive: each parses the rest of its line into the template being built.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "template/line_parser.h"
#include "template/names.h"
#include "template/template.h"

namespace tma_jit::templates {

// S[PARTS] {A, B}: a list of tensors, dims or lets, of as many entries as the param says.
struct ListDeclaration {
  Token name, param;
  std::vector<Token> entries;  // their names; empty: S0, S1 and so on
};

// The template so far, and the positions of its declarations.
struct Builder {
  Template result;
  NameTable names;
  std::map<std::string, Position, std::less<>> seen;                        // directives that may occur only once
  std::map<std::string, std::vector<std::string>, std::less<>> attributes;  // those that each tensor has
  HeaderLookup header;                                                      // finds used files
  std::map<std::string, ListDeclaration, std::less<>> lists;                // until they are expanded
  bool declarations_only = false;                                           // as parse_declarations
  enum class Presets { with_the_rest, later, alone } presets = Presets::with_the_rest;

  // Returns "line 3", with its file if that is not the one of `from`.
  std::string line_text(const Position& at, const Position& from) const;
};

using Directive = Result<void> (*)(LineParser& line, Builder& builder);

// Returns nullptr if there is no such directive.
Directive find_directive(std::string_view name);
std::vector<std::string> directive_names();
// Returns whether parse_declarations reads the directive.
bool is_declaration(std::string_view directive);
// Returns whether the builder reads the directive now.
bool is_read(const Builder& builder, std::string_view directive);
// Returns whether a manifest may contain the directive only once.
bool is_single(std::string_view directive);

// Parses a new name; fails if it is already declared or cannot be declared.
[[nodiscard]] Result<Token> declare(LineParser& line, Builder& builder, NameKind kind);
// The same where it may be a list.
[[nodiscard]] Result<Token> declare_list(LineParser& line, Builder& builder, NameKind kind);

[[nodiscard]] Result<void> parse_use(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_kernel(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_arch(LineParser& line, Builder& builder);
[[nodiscard]] Result<void> parse_prefer(LineParser& line, Builder& builder);
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
[[nodiscard]] Result<void> parse_inputs(LineParser& line, Builder& builder);

}  // namespace tma_jit::templates
