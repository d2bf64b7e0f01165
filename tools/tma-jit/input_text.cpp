#include "input_text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace tma_jit::cli {
namespace {

constexpr int kSilenceMs = 10'000;

tl::unexpected<Error> refuse(const std::filesystem::path& path, std::string_view why) {
  return tl::make_unexpected(Error{ErrorCode::io, fmt::format("cannot read {}: {}", path.string(), why), {}});
}

class Input {
 public:
  explicit Input(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_ >= 0) (void)::fstat(file_, &status_);
  }
  ~Input() {
    if (file_ >= 0) ::close(file_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  bool open() const { return file_ >= 0; }
  bool pipe() const { return S_ISFIFO(status_.st_mode); }
  bool readable() const { return S_ISREG(status_.st_mode) || pipe(); }
  ssize_t read(char* block, std::size_t size) const { return ::read(file_, block, size); }
  // Returns whether a pipe that has a writer provides data soon.
  bool wait() const {
    pollfd waiting{file_, POLLIN, 0};
    return ::poll(&waiting, 1, kSilenceMs) != 0;
  }

 private:
  int file_;
  struct stat status_ {};
};

}  // namespace

Result<std::string> read_text(const std::filesystem::path& path) {
  const Input input(path);
  if (!input.open()) return refuse(path, std::strerror(errno));
  if (!input.readable()) return refuse(path, "it is neither a file nor a pipe");
  std::string text;
  char block[16384];
  while (true) {
    const ssize_t got = input.read(block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN && input.wait()) continue;
    if (got < 0 && errno == EAGAIN) return refuse(path, "nothing came from this pipe for ten seconds");
    if (got < 0) return refuse(path, std::strerror(errno));
    if (got == 0 && text.empty() && input.pipe()) return refuse(path, "it is a pipe that nobody writes to");
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
  }
}

}  // namespace tma_jit::cli
