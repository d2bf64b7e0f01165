#include "compile/cubin_check.h"

#include <elf.h>

#include <cstring>
#include <vector>

#include <doctest/doctest.h>

namespace tma_jit::compile {
namespace {

Elf64_Ehdr header_for(unsigned sm) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_ABIVERSION] = 8;
  header.e_machine = 190;
  header.e_flags = sm << 8;
  return header;
}

std::string fault(const Elf64_Ehdr& header, std::size_t size = sizeof(Elf64_Ehdr)) {
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes.resize(size);
  const auto checked = check_cubin(bytes, "sm_90a");
  return checked ? std::string() : checked.error().message;
}

}  // namespace

TEST_CASE("a cubin is checked by its ELF header") {
  CHECK(fault(header_for(90)).empty());
  CHECK(fault(header_for(90), 0).ends_with("its cubin has 0 bytes"));
  CHECK(fault(header_for(100)).ends_with("its cubin is for sm_100, not sm_90a"));

  Elf64_Ehdr older = header_for(0);  // CUDA 12 keeps the SM in the low byte
  older.e_ident[EI_ABIVERSION] = 7;
  older.e_flags = 0x5a055a;
  CHECK(fault(older).empty());

  Elf64_Ehdr host = header_for(90);
  host.e_machine = EM_X86_64;
  CHECK(fault(host).ends_with("its cubin is for machine 62, not CUDA's 190"));

  Elf64_Ehdr text = header_for(90);
  text.e_ident[0] = '/';
  CHECK(fault(text).ends_with("its cubin is no ELF file"));

  Elf64_Ehdr cut = header_for(90);
  cut.e_shoff = 64;
  cut.e_shentsize = 64;
  cut.e_shnum = 2;
  CHECK(fault(cut).ends_with("its cubin is cut short"));
}

}  // namespace tma_jit::compile
