#include "base/profile.h"

#include <mutex>
#include <string>

#include "base/environment.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define TMA_JIT_HAS_NVTX 1
#endif

namespace tma_jit::profile {

std::atomic<bool> state::attached = false;

#ifdef TMA_JIT_HAS_NVTX
namespace {

nvtxDomainHandle_t domain = nullptr;  // written before `attached` is set

}  // namespace

void attach() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (has_raised_privileges()) return;  // because the caller chose $NVTX_INJECTION64_PATH
    domain = nvtxDomainCreateA("tma-jit");
    state::attached = domain != nullptr;
  });
}

void Range::begin(std::string_view verb, std::string_view name) {
  const std::string text = std::string(verb).append(" ").append(name);
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text.c_str();
  nvtxDomainRangePushEx(domain, &event);
  begun_ = true;
}

void Range::end() {
  nvtxDomainRangePop(domain);
}

#else

void attach() {}
void Range::begin(std::string_view, std::string_view) {}
void Range::end() {}

#endif

}  // namespace tma_jit::profile
