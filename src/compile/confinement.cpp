#include "compile/confinement.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/descriptor.h"

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

namespace tma_jit::compile {
namespace {

// The working folder must not be a removed one: getcwd then fails, and NVRTC reads uninitialised memory as its name.
void enter_root() {
  [[maybe_unused]] const int entered = ::chdir("/");
}

}  // namespace

#ifdef LANDLOCK_ACCESS_FS_EXECUTE
namespace {

// The rights of Landlock's first version, which every kernel with Landlock supports.
constexpr std::uint64_t kAllRights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

}  // namespace

bool confine() {
  enter_root();
  landlock_ruleset_attr rules{};
  rules.handled_access_fs = kAllRights;
  const Descriptor set(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0)));
  if (!set || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::syscall(SYS_landlock_restrict_self, set.get(), 0) == 0;
}

#else

bool confine() {
  enter_root();
  return false;
}

#endif

}  // namespace tma_jit::compile
