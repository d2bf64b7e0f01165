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

// Not a removed one, whose name getcwd refuses to give: NVRTC then reads the name from memory it has never written.
void enter_root() {
  [[maybe_unused]] const int entered = ::chdir("/");
}

}  // namespace

#ifdef LANDLOCK_ACCESS_FS_EXECUTE
namespace {

// The rights of Landlock's first version, which all kernels with Landlock know.
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
