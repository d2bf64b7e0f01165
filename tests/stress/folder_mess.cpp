#include "folder_mess.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <ctime>
#include <functional>

#include <fmt/format.h>
#include <tma_jit/cache.h>

#include "base/file.h"
#include "cache/folder.h"
#include "cache/store.h"
#include "support/cache_samples.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65533;
constexpr Work kWork{.compile_us = 0, .bytes = 700, .noise = true};
constexpr const char* kCanary = "nobody may change this";

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string sound_entry(unsigned number) {
  return text_of(cache::encode(cache::sample_key(number), expected_entry(number, kWork)).value());
}

// A stranger's kernel under a key of ours. It must never be loaded, so it always belongs to the stranger, or lies in
// the canary, where only a link leads.
std::string evil_entry(unsigned number) {
  return text_of(cache::encode(cache::sample_key(number), cache::noise_entry(number + 1000, 700)).value());
}

void remove_any(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

unsigned any_key(Random& random) {
  return static_cast<unsigned>(below(random, kMessKeys));
}

// A place of the folder where things are looked for.
fs::path any_place(const Mess& mess, Random& random) {
  fs::path root = below(random, 4) == 0 ? mess.read_only : mess.root;
  fs::path entry = cache::entry_path(root, cache::sample_key(any_key(random)));
  const auto records = cache::names_in(cache::FileSystem::system(), AT_FDCWD, cache::compilers_folder(root).c_str());
  switch (below(random, 14)) {
    case 0: return root;
    case 1: return root / "v1";
    case 2: return entry.parent_path();
    case 3: return root / "v1" / "lock";
    case 4: return root / "v1" / "index";
    case 5: return cache::compilers_folder(root);
    case 6: return records.empty() ? entry : cache::compilers_folder(root) / records[below(random, records.size())];
    case 7: return entry.parent_path() / cache::temporary_name();
    case 8: return mess.pack;
    case 9: return below(random, 2) == 0 ? mess.keys : mess.keys / "builder.pub";
    default: return entry;
  }
}

std::string damaged(std::string bytes, Random& random) {
  switch (below(random, 4)) {
    case 0: bytes.resize(below(random, bytes.size() + 1)); break;
    case 1: bytes[below(random, bytes.size())] = static_cast<char>(random()); break;
    case 2: bytes.append(1 + below(random, 300), 'x'); break;
    default:
      for (std::size_t i = below(random, bytes.size()); i < bytes.size(); ++i) bytes[i] = static_cast<char>(random());
  }
  return bytes;
}

void put_file(const fs::path& path, const std::string& bytes, mode_t mode) {
  remove_any(path);
  (void)write_file(path, bytes);
  (void)::chmod(path.c_str(), mode);
}

struct Harm {
  const char* what;
  std::function<void(const Mess&, const fs::path& path, Random&)> act;
};

std::time_t any_time(Random& random) {
  constexpr std::time_t kDay = 86'400, kYear = 365 * kDay;
  const std::time_t now = std::time(nullptr);
  const std::time_t times[] = {0, -kDay, 1, now, now - 2 * kDay, now + 2 * kDay, now + 12 * kYear, now - 400};
  return times[below(random, std::size(times))];
}

const Harm kHarms[] = {
    {"a damaged entry", [](const Mess&, const fs::path& path,
                           Random& random) { put_file(path, damaged(sound_entry(any_key(random)), random), 0600); }},
    {"another key's entry",
     [](const Mess&, const fs::path& path, Random& random) { put_file(path, sound_entry(any_key(random)), 0600); }},
    {"a stranger's entry",
     [](const Mess& mess, const fs::path& path, Random& random) {
       if (::geteuid() != 0) return;
       const fs::path made = mess.parent / "stranger's entry";
       put_file(made, evil_entry(any_key(random)), 0600);
       remove_any(path);
       // It belongs to the stranger before it has its place: the library may look there at any moment.
       if (::lchown(made.c_str(), kStranger, kStranger) == 0) (void)::rename(made.c_str(), path.c_str());
     }},
    {"noise",
     [](const Mess&, const fs::path& path, Random& random) {
       std::string bytes(below(random, 5000), '\0');
       for (char& byte : bytes) byte = static_cast<char>(random());
       put_file(path, bytes, 0644);
     }},
    {"a link",
     [](const Mess& mess, const fs::path& path, Random& random) {
       const fs::path evil = mess.canary / "cache", entry = cache::entry_path(evil, cache::sample_key(any_key(random)));
       const fs::path targets[] = {entry,
                                   entry.parent_path(),
                                   evil / "v1",
                                   evil,
                                   mess.canary / "evil.tmjpack",
                                   mess.canary / "zero",
                                   "nowhere",
                                   path,
                                   cache::entry_path(mess.root, cache::sample_key(1))};
       remove_any(path);
       std::error_code ignored;
       fs::create_symlink(targets[below(random, std::size(targets))], path, ignored);
     }},
    {"a pipe",
     [](const Mess&, const fs::path& path, Random&) {
       remove_any(path);
       (void)::mkfifo(path.c_str(), 0600);
     }},
    {"a device",
     [](const Mess&, const fs::path& path, Random& random) {
       remove_any(path);
       (void)::mknod(path.c_str(), S_IFCHR | 0600, ::makedev(1, below(random, 2) == 0 ? 5 : 7));  // zero, full
     }},
    {"a folder",
     [](const Mess&, const fs::path& path, Random& random) {
       remove_any(path);
       std::error_code ignored;
       fs::create_directory(path, ignored);
       if (below(random, 2) == 0) (void)write_file(path / "notes.txt", "somebody's notes");
     }},
    {"a file of four gigabytes",
     [](const Mess&, const fs::path& path, Random&) {
       put_file(path, "x", 0600);
       (void)::truncate(path.c_str(), off_t{4} << 30);
     }},
    {"a hard link",
     [](const Mess& mess, const fs::path& path, Random& random) {
       const fs::path entry = cache::entry_path(mess.root, cache::sample_key(any_key(random)));
       remove_any(path);
       if (!mess.leads_to_canary(entry)) (void)::link(entry.c_str(), path.c_str());
     }},
    {"another mode",
     [](const Mess&, const fs::path& path, Random& random) {
       constexpr mode_t kModes[] = {0, 0400, 0444, 0500, 0600, 0644, 0666, 0700, 0755, 0777, 01777, 02770};
       struct stat status {};
       if (::lstat(path.c_str(), &status) == 0 && !S_ISLNK(status.st_mode))
         (void)::chmod(path.c_str(), kModes[below(random, std::size(kModes))]);
     }},
    {"another owner",
     [](const Mess&, const fs::path& path, Random&) { (void)!::lchown(path.c_str(), kStranger, -1U); }},
    {"another time",
     [](const Mess&, const fs::path& path, Random& random) {
       const timespec times[] = {{any_time(random), 0}, {any_time(random), 0}};
       (void)::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
     }},
    {"removed", [](const Mess&, const fs::path& path, Random&) { remove_any(path); }},
    {"moved",
     [](const Mess& mess, const fs::path& path, Random& random) {
       std::error_code ignored;
       const fs::path to = any_place(mess, random);
       if (!mess.leads_to_canary(to)) fs::rename(path, to, ignored);
     }},
    {"a damaged pack",
     [](const Mess& mess, const fs::path&, Random& random) {
       const auto bytes = read_file(mess.canary / "pack");
       if (bytes) put_file(mess.pack, damaged(*bytes, random), 0644);
     }},
    {"a stranger's pack",
     [](const Mess& mess, const fs::path&, Random&) {
       const auto bytes = read_file(mess.canary / "evil.tmjpack");
       if (bytes) put_file(mess.pack, *bytes, 0644);  // sound, and signed by nobody whom we trust
     }},
    {"the builder's pack",
     [](const Mess& mess, const fs::path&, Random&) {
       const auto bytes = read_file(mess.canary / "pack");
       if (bytes) put_file(mess.pack, *bytes, 0644);
     }},
};

// A folder of entries under our keys, from which a pack is made.
void fill(const fs::path& root, const std::function<cache::Entry(unsigned)>& entry, unsigned every) {
  const auto store = cache::Store::open(root);
  if (!store) return;
  for (unsigned number = 0; number < kMessKeys; number += every) {
    (void)store->put(cache::sample_key(number), entry(number));
    store->add_to_index(cache::sample_key(number), cache::Marks::of("sample"));
  }
  (void)store->record_compiler("nvrtc 13.0 abc");
}

}  // namespace

void Mess::prepare(Random& random) const {
  const auto ours = [](unsigned number) { return expected_entry(number, kWork); };
  const auto evil = [](unsigned number) { return cache::noise_entry(number + 1000, 700); };
  fs::create_directory(canary);
  fs::create_directory(keys);
  (void)write_file(canary / "text", kCanary);
  (void)::mknod((canary / "zero").c_str(), S_IFCHR | 0600, ::makedev(1, 5));
  (void)cache_keygen(canary / "builder.key", keys / "builder.pub");
  (void)cache_keygen(canary / "stranger.key", canary / "stranger.pub");
  fs::remove(canary / "stranger.pub");  // a link to this folder must not make the stranger trusted
  fill(canary / "cache", evil, 1);
  (void)cache_pack(canary / "cache", canary / "evil.tmjpack",
                   below(random, 2) == 0 ? canary / "stranger.key" : fs::path());
  fill(read_only, ours, 3);
  (void)cache_pack(read_only, canary / "pack", canary / "builder.key");
  fs::copy_file(canary / "pack", pack);
  if (below(random, 4) != 0) fill(root, ours, 2);
}

bool Mess::leads_to_canary(const std::filesystem::path& path) const {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path.parent_path(), error);
  return error || real.native().starts_with(canary.native());
}

std::string Mess::harm(Random& random) const {
  const Harm& harm = kHarms[below(random, std::size(kHarms))];
  const fs::path path = any_place(*this, random);
  if (leads_to_canary(path)) return "nothing";
  harm.act(*this, path, random);
  return fmt::format("{}: {}", path.lexically_relative(parent).string(), harm.what);
}

std::uint64_t Mess::canary_state() const {
  std::uint64_t state = 0;
  for (const auto& item : fs::recursive_directory_iterator(canary)) {
    struct stat status {};
    (void)::lstat(item.path().c_str(), &status);
    const std::string content = S_ISREG(status.st_mode) ? read_file(item.path()).value_or("") : "";
    const std::string text = fmt::format("{} {:o} {}", item.path().string(), status.st_mode, content);
    state += std::hash<std::string>()(text);  // in whatever order they come
  }
  return state;
}

}  // namespace tma_jit::stress
