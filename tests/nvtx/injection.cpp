// A profiler of a few lines: NVTX loads it into the process and it notes every range of every domain, one a line, with
// two blanks for each range around it on the same thread.
#include <mutex>
#include <string>
#include <utility>

#include <nvtx3/nvToolsExt.h>

namespace {

std::mutex mutex;
std::string notes;
thread_local int depth = 0;

struct nvtxDomainRegistration_st* create_domain(const char* name) {
  return reinterpret_cast<nvtxDomainRegistration_st*>(new std::string(name));  // as long as the process
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(mutex);
  notes.append(2 * static_cast<std::size_t>(depth), ' ').append(*reinterpret_cast<const std::string*>(domain));
  notes.append(": ").append(event->message.ascii).append("\n");
  return depth++;
}

int pop(nvtxDomainHandle_t) {
  return --depth;
}

template <class Function> NvtxFunctionPointer pointer_to(Function* function) {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming): NVTX looks for this name
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(table_of(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  if (size <= NVTX_CBID_CORE2_DomainCreateA) return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = pointer_to(create_domain);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = pointer_to(push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = pointer_to(pop);
  return 1;
}

// What was noted since the last call, and how many ranges of this thread are open.
__attribute__((visibility("default"))) const char* tma_jit_test_ranges(int* open) {
  static std::string taken;
  const std::lock_guard lock(mutex);
  taken = std::exchange(notes, {});
  *open = depth;
  return taken.c_str();
}
}
