#include "compile/entry_check.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/failure.h"

namespace tma_jit::compile {
namespace {

// Copies a struct out of the image; nullopt if it lies beyond its end.
template <class Struct> std::optional<Struct> read(std::span<const std::byte> image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(Struct)) return std::nullopt;
  Struct value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

std::optional<Elf64_Shdr> section(std::span<const std::byte> image, const Elf64_Ehdr& header, std::uint64_t index) {
  return read<Elf64_Shdr>(image, header.e_shoff + index * sizeof(Elf64_Shdr));
}

std::optional<Elf64_Shdr> symbol_table(std::span<const std::byte> image, const Elf64_Ehdr& header) {
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto found = section(image, header, i);
    if (found && found->sh_type == SHT_SYMTAB) return found;
  }
  return std::nullopt;
}

// Returns the name that begins at an offset of a table of strings.
std::string_view name_at(std::string_view strings, std::size_t offset) {
  if (offset >= strings.size()) return {};
  const std::string_view rest = strings.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

// Returns whether the name is that of a function in C++ whose name is `entry`.
bool is_mangled(std::string_view name, std::string_view entry) {
  return name.starts_with(fmt::format("_Z{}{}", entry.size(), entry));
}

}  // namespace

std::optional<std::vector<std::string_view>> functions_of_cubin(std::span<const std::byte> cubin) {
  const auto header = read<Elf64_Ehdr>(cubin, 0);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr)) return std::nullopt;
  const auto table = symbol_table(cubin, *header);
  const auto names = table ? section(cubin, *header, table->sh_link) : std::nullopt;
  if (!names || names->sh_offset > cubin.size() || names->sh_size > cubin.size() - names->sh_offset)
    return std::nullopt;
  const std::string_view strings(reinterpret_cast<const char*>(cubin.data()) + names->sh_offset, names->sh_size);
  std::vector<std::string_view> functions;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = read<Elf64_Sym>(cubin, table->sh_offset + at);
    if (!symbol) return std::nullopt;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC) functions.push_back(name_at(strings, symbol->st_name));
  }
  return functions;
}

std::vector<std::string_view> kernels_of_ptx(std::string_view ptx) {
  constexpr std::string_view kEntry = ".entry ";
  std::vector<std::string_view> kernels;
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at)) {
    at += kEntry.size();
    kernels.push_back(ptx.substr(at, ptx.find_first_of("( \t\r\n;", at) - at));
  }
  return kernels;
}

Result<void> check_entry(const Source& source, const std::vector<std::string_view>& names) {
  if (std::ranges::find(names, source.entry) != names.end()) return {};
  const bool mangled =
      std::ranges::any_of(names, [&](std::string_view name) { return is_mangled(name, source.entry); });
  Error error;
  error.code = ErrorCode::compile;
  error.message = fmt::format("{}: {}", source.name,
                              mangled ? fmt::format("the kernel {} is not extern \"C\"", source.entry)
                                      : fmt::format("there is no kernel {}, which the manifest names", source.entry));
  error.detail = fmt::format("write it as  extern \"C\" __global__ void {}(...)", source.entry);
  if (!mangled && !names.empty()) error.detail += fmt::format("; there is {}", fmt::join(names, ", "));
  return tl::make_unexpected(std::move(error));
}

}  // namespace tma_jit::compile
