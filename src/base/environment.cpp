#include "base/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"

namespace tma_jit {
namespace {

std::string value_of(const char* name) {
  const char* value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::filesystem::path> paths_in(const char* variable) {
  std::vector<std::filesystem::path> paths;
  const std::string listed = value_of(variable);
  for (const std::string_view path : split(listed, ':')) {
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

// Returns one empty path if the variable is set to "", because an empty rule is a mistake that must be reported.
std::vector<std::filesystem::path> rules_in(const char* variable) {
  auto paths = paths_in(variable);
  if (paths.empty() && ::secure_getenv(variable) != nullptr) paths.emplace_back();
  return paths;
}

std::vector<std::filesystem::path> named(std::initializer_list<const char*> variables) {
  std::vector<std::filesystem::path> paths;
  for (const char* variable : variables) {
    if (std::string path = value_of(variable); !path.empty()) paths.emplace_back(std::move(path));
  }
  return paths;
}

ProcessEnvironment::Remote remote_variables() {
  const std::string region = value_of("AWS_REGION");
  return {.url = value_of("TMA_JIT_REMOTE"),
          .role = value_of("TMA_JIT_REMOTE_ROLE"),
          .user = value_of("TMA_JIT_REMOTE_USER"),
          .password = value_of("TMA_JIT_REMOTE_PASSWORD"),
          .token = value_of("TMA_JIT_REMOTE_TOKEN"),
          .ca = value_of("TMA_JIT_REMOTE_CA"),
          .certificate = value_of("TMA_JIT_REMOTE_CERT"),
          .certificate_key = value_of("TMA_JIT_REMOTE_CERT_KEY"),
          .sign_key = value_of("TMA_JIT_REMOTE_SIGN"),
          .aws_access_key = value_of("AWS_ACCESS_KEY_ID"),
          .aws_secret_key = value_of("AWS_SECRET_ACCESS_KEY"),
          .aws_session_token = value_of("AWS_SESSION_TOKEN"),
          .aws_region = region.empty() ? value_of("AWS_DEFAULT_REGION") : region};
}

std::vector<std::string> all_words() {
  std::vector<std::string> words;
  for (char** word = environ; word != nullptr && *word != nullptr; ++word) words.emplace_back(*word);
  return words;
}

}  // namespace

// Also compares the user ids, for a program that changed its user after it was started.
bool has_raised_privileges() {
  return ::getauxval(AT_SECURE) != 0 || ::getuid() != ::geteuid() || ::getgid() != ::getegid();
}

ProcessEnvironment ProcessEnvironment::read() {
  if (has_raised_privileges()) return {};
  return {.compiler = value_of("TMA_JIT_COMPILER"),
          .disable_tma = value_of("TMA_JIT_DISABLE_TMA"),
          .emulator = value_of("TMA_JIT_EMULATOR"),
          .tuning = value_of("TMA_JIT_TUNING"),
          .cache_dir = value_of("TMA_JIT_CACHE_DIR"),
          .nvrtc = value_of("TMA_JIT_NVRTC"),
          .record_misses = value_of("TMA_JIT_RECORD_MISSES"),
          .record_requests = value_of("TMA_JIT_RECORD_REQUESTS"),
          .worker = value_of("TMA_JIT_WORKER"),
          .cache_read_only = paths_in("TMA_JIT_CACHE_RO"),
          .pack_keys = rules_in("TMA_JIT_PACK_KEYS"),
          .templates = paths_in("TMA_JIT_TEMPLATES"),
          .tuned = paths_in("TMA_JIT_TUNED"),
          .remote = remote_variables(),
          .home = value_of("HOME"),
          .xdg_cache_home = value_of("XDG_CACHE_HOME"),
          .xdg_runtime_dir = value_of("XDG_RUNTIME_DIR"),
          .library_path = paths_in("LD_LIBRARY_PATH"),
          .toolkits = named({"CUDA_HOME", "CUDA_PATH"}),
          .python_environments = named({"VIRTUAL_ENV", "CONDA_PREFIX"}),
          .words = all_words()};
}

}  // namespace tma_jit
