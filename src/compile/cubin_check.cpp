#include "compile/cubin_check.h"

#include <elf.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "core/failure.h"

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

namespace tma_jit::compile {
namespace {

int sm_in(std::string_view arch) {
  int number = 0;
  const std::size_t digits = std::min(arch.find_first_of("0123456789"), arch.size());
  std::from_chars(arch.data() + digits, arch.data() + arch.size(), number);
  return number;
}

// Returns the SM from e_flags: bits 0-7 in ABI 7 (CUDA 12), 8-15 in ABI 8 (CUDA 13); nullopt for other ABIs.
std::optional<unsigned> sm_of(const Elf64_Ehdr& header) {
  switch (header.e_ident[EI_ABIVERSION]) {
    case 7: return header.e_flags & 0xFF;
    case 8: return header.e_flags >> 8 & 0xFF;
    default: return std::nullopt;
  }
}

}  // namespace

std::string cubin_fault(std::span<const std::byte> cubin, std::string_view arch) {
  Elf64_Ehdr header{};
  if (cubin.size() < sizeof header) return fmt::format("has {} bytes", cubin.size());
  std::memcpy(&header, cubin.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "is no ELF file";
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_CUDA) {
    return fmt::format("is for machine {}, not CUDA's {}", header.e_machine, EM_CUDA);
  }
  const std::uint64_t sections = std::uint64_t{header.e_shentsize} * header.e_shnum;
  if (header.e_shoff > cubin.size() || sections > cubin.size() - header.e_shoff) return "is cut short";
  if (const auto sm = sm_of(header); sm && static_cast<int>(*sm) != sm_in(arch)) {
    return fmt::format("is for sm_{}, not {}", *sm, arch);
  }
  return {};
}

Result<void> check_cubin(std::span<const std::byte> cubin, std::string_view arch) {
  const std::string fault = cubin_fault(cubin, arch);
  if (fault.empty()) return {};
  return failure(ErrorCode::nvrtc, "NVRTC reported success, but its cubin {}", fault);
}

}  // namespace tma_jit::compile
