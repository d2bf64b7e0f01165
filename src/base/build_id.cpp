// Separate from library.cpp, so that a program that only opens libraries need not link libcrypto.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "base/descriptor.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/fork.h"
#include "base/library.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

constexpr std::size_t kLibraryLimit = std::size_t{1} << 30;

class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& path) : file_(open_file(path).value_or(Descriptor())) {}

  template <class T> bool read(T& value, std::uint64_t offset) const {
    return file_ && ::pread(file_.get(), &value, sizeof value, static_cast<off_t>(offset)) == ssize_t{sizeof value};
  }
  std::string bytes(std::uint64_t offset, std::uint64_t size) const {
    std::string text(std::min<std::uint64_t>(size, 4096), '\0');
    const ssize_t got = ::pread(file_.get(), text.data(), text.size(), static_cast<off_t>(offset));
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  Descriptor file_;
};

// Returns the build id from the notes of one PT_NOTE segment, or "" if there is none.
std::string build_id_in(const std::string& notes) {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  std::size_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
    Elf64_Nhdr note{};
    std::memcpy(&note, notes.data() + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t description = name + padded(note.n_namesz);
    const std::size_t end = description + padded(note.n_descsz);
    if (end > notes.size() || end <= at) return {};
    if (note.n_type == NT_GNU_BUILD_ID && notes.compare(name, 4, std::string_view("GNU\0", 4)) == 0) {
      return to_hex({reinterpret_cast<const std::uint8_t*>(notes.data()) + description, note.n_descsz});
    }
    at = end;
  }
  return {};
}

std::string gnu_build_id(const std::filesystem::path& path) {
  const ElfFile file(path);
  Elf64_Ehdr header{};
  if (!file.read(header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(segment, header.e_phoff + std::uint64_t{i} * sizeof segment)) return {};
    if (segment.p_type != PT_NOTE) continue;
    if (std::string id = build_id_in(file.bytes(segment.p_offset, segment.p_filesz)); !id.empty()) return id;
  }
  return {};
}

struct LoadedId {
  ElfW(Addr) base;
  std::string id;
};

int read_loaded_id(dl_phdr_info* info, std::size_t, void* wanted) {
  auto* loaded = static_cast<LoadedId*>(wanted);
  if (info->dlpi_addr != loaded->base) return 0;
  for (unsigned i = 0; i < info->dlpi_phnum && loaded->id.empty(); ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    loaded->id = build_id_in({notes, segment.p_memsz});
  }
  return 1;
}

}  // namespace

Result<std::string> build_id(void* handle) {
  const NoFork no_fork;
  link_map* map = nullptr;
  if (handle == nullptr || ::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) {
    return failure(ErrorCode::not_found, "the library is not loaded");
  }
  LoadedId loaded{map->l_addr, {}};
  ::dl_iterate_phdr(read_loaded_id, &loaded);
  if (!loaded.id.empty()) return loaded.id;
  return build_id(std::filesystem::path(map->l_name));
}

Result<std::string> build_id(const std::filesystem::path& path) {
  if (std::string id = gnu_build_id(path); !id.empty()) return id;
  TMA_JIT_ASSIGN(const std::string bytes, read_file(path, kLibraryLimit));
  return "sha256-" + to_hex(sha256(bytes.data(), bytes.size()));
}

}  // namespace tma_jit
