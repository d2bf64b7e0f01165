#include "compile/entry_check.h"

#include <elf.h>

#include <cstring>
#include <string>

#include <doctest/doctest.h>

namespace tma_jit::compile {
namespace {

template <class Struct> void put(std::vector<std::byte>& image, std::size_t at, const Struct& value) {
  std::memcpy(image.data() + at, &value, sizeof value);
}

// An ELF file with a function "k", whose name is at `name` of its strings.
std::vector<std::byte> image_with_function(std::uint32_t name = 1) {
  constexpr char kStrings[] = "\0k";
  std::vector<std::byte> image(512);
  Elf64_Ehdr header{};
  header.e_shoff = 64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  put(image, 0, header);
  Elf64_Shdr symbols{}, strings{};
  symbols.sh_type = SHT_SYMTAB;
  symbols.sh_offset = 256;
  symbols.sh_size = 2 * sizeof(Elf64_Sym);
  symbols.sh_link = 1;
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = 320;
  strings.sh_size = sizeof kStrings;
  put(image, 64, symbols);
  put(image, 128, strings);
  Elf64_Sym symbol{};
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_name = name;
  put(image, 256 + sizeof(Elf64_Sym), symbol);
  put(image, 320, kStrings);
  return image;
}

std::string fault(std::string_view entry, const std::vector<std::string_view>& names) {
  Source source;
  source.name = "f.cu";
  source.entry = entry;
  const auto checked = check_entry(source, names);
  return checked ? std::string() : checked.error().text();
}

}  // namespace

TEST_CASE("the functions of a cubin are those of its table of symbols, and of a damaged one unknown") {
  const std::vector<std::byte> image = image_with_function();
  CHECK(functions_of_cubin(image) == std::vector<std::string_view>{"k"});
  CHECK(functions_of_cubin(image_with_function(100000)) == std::vector<std::string_view>{""});
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 63, 64, 150, 300, 321})
    CHECK_FALSE(functions_of_cubin(std::span(image).first(size)).has_value());
}

TEST_CASE("the kernels of PTX are its entries") {
  CHECK(kernels_of_ptx(".visible .entry k(\n.param .u64 k_param_0)\n.weak .entry other\n(") ==
        std::vector<std::string_view>{"k", "other"});
  CHECK(kernels_of_ptx("// nothing").empty());
}

TEST_CASE("a kernel that the manifest names and the text lacks is an error that says what to write") {
  CHECK(fault("k", {"k", "m"}).empty());
  CHECK(fault("k", {"m", "n"}) ==
        "compile: f.cu: there is no kernel k, which the manifest names\n"
        "  write it as  extern \"C\" __global__ void k(...); there is m, n");
  CHECK(fault("k", {}) ==
        "compile: f.cu: there is no kernel k, which the manifest names\n"
        "  write it as  extern \"C\" __global__ void k(...)");
  CHECK(fault("k", {"_Z1kPf"}) ==
        "compile: f.cu: the kernel k is not extern \"C\"\n"
        "  write it as  extern \"C\" __global__ void k(...)");
}

}  // namespace tma_jit::compile
