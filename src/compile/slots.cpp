#include "compile/slots.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <thread>

namespace tma_jit::compile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBytesPerSlot = std::uint64_t{1}
                                        << 30;  // an NVRTC compile of the tree's largest kernel: 0.3 GB
constexpr std::chrono::milliseconds kLongestPause{20};

// Opens without following a link, and only a regular file of this user, because in /tmp anyone can create names.
Descriptor open_own(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return {};
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return {};
  return file;
}

Descriptor open_file(const std::filesystem::path& wanted) {
  if (!wanted.empty()) return open_own(wanted);
  const std::string name = "tma-jit-slots-" + std::to_string(::geteuid());
  for (const char* folder : {"/tmp", "/dev/shm"}) {
    if (Descriptor file = open_own(std::filesystem::path(folder) / name)) return file;
  }
  return {};
}

// Returns 0 if unknown.
std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    std::uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

bool set_lock(int file, short kind, off_t first, off_t bytes) {
  struct flock region {};
  region.l_type = kind;
  region.l_whence = SEEK_SET;
  region.l_start = first;
  region.l_len = bytes;
  return ::fcntl(file, F_OFD_SETLK, &region) == 0;
}

}  // namespace

int default_slots() {
  cpu_set_t usable;
  int processors = 1;
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) processors = CPU_COUNT(&usable);
  const std::uint64_t memory = available_bytes();
  if (memory == 0) return processors;
  return std::max(1, static_cast<int>(std::min<std::uint64_t>(memory / kBytesPerSlot, processors)));
}

Slots::Slots(Settings settings) : settings_(std::move(settings)), file_(open_file(settings_.file)) {
  if (settings_.count <= 0) settings_.count = default_slots();
}

bool Slots::take(bool alone) {
  if (!file_) return false;
  const Clock::time_point limit = Clock::now() + settings_.patience;
  if (!alone) return take_any(limit);
  // In ascending order, so that two processes that take all slots do not deadlock.
  for (int slot = 0; slot < settings_.count; ++slot) {
    if (!lock(slot, limit)) return false;
  }
  return true;
}

bool Slots::take_any(Clock::time_point limit) {
  std::chrono::milliseconds pause{1};
  const int first = ::getpid() % settings_.count;
  while (true) {
    for (int i = 0; i < settings_.count; ++i) {
      if (set_lock(file_.get(), F_WRLCK, (first + i) % settings_.count, 1)) return true;
      if (errno != EAGAIN && errno != EACCES) return false;  // the file system has no locks
    }
    if (Clock::now() + pause > limit) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

bool Slots::lock(int slot, Clock::time_point limit) {
  while (!set_lock(file_.get(), F_WRLCK, slot, 1)) {
    if ((errno != EAGAIN && errno != EACCES) || Clock::now() > limit) return false;
    std::this_thread::sleep_for(kLongestPause);
  }
  return true;
}

void Slots::release() {
  if (file_) set_lock(file_.get(), F_UNLCK, 0, 0);
}

}  // namespace tma_jit::compile
