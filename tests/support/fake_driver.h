// A driver for tests: a table of functions over host memory that remembers calls, answers what it is told to, and knows
// which calls break a stream capture.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/api.h"

namespace tma_jit::testing {

// One at a time in a process. Its functions may be called from any thread.
class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  driver::Api& api() { return api_; }
  driver::Provider provider() {
    return [this]() -> Result<driver::SharedApi> { return driver::borrowed(api_); };
  }

  // What a device is: an H100 unless a test changes it before it opens a context. All are alike, but for what
  // `attributes_of` says of one.
  int device_count = 1;
  std::string device_name = "NVIDIA H100 80GB HBM3";
  std::map<CUdevice_attribute, int> device_attributes;
  std::map<CUdevice, std::map<CUdevice_attribute, int>> attributes_of;

  // What every kernel is.
  std::map<CUfunction_attribute, int> function_attributes;
  std::vector<std::pair<std::size_t, std::size_t>> parameters;  // offset, size: what cuKernelGetParamInfo says
  int active_clusters = 66;

  // What cuPointerGetAttributes says of an address; of any other, that it is the current device's memory.
  struct Pointer {
    unsigned memory_type = 0;
    int ordinal = -2;
    bool reachable = false, managed = false, mapped = false;
  };
  std::map<CUdeviceptr, Pointer> pointers;
  std::atomic<int> pointer_queries = 0;  // not among `calls`

  // The call of that name fails from now on, or succeeds again.
  void fail(std::string call, CUresult result);
  void succeed(const std::string& call);

  // Calls since the start, by name, and in order.
  int count(std::string_view call) const;
  std::vector<std::string> calls() const;

  struct Launch {
    CUlaunchConfig config{};
    std::vector<CUlaunchAttribute> attributes;
    std::vector<std::vector<std::byte>> arguments;  // as long as `argument_sizes` says
    CUcontext context = nullptr;                    // current when it was made
  };
  std::vector<std::size_t> argument_sizes;  // bytes to keep of each argument of a launch
  std::vector<Launch> launches() const;

  // Contexts of this thread, the current one last.
  static std::vector<CUcontext>& contexts();
  static CUcontext primary(CUdevice device = 0);
  int retained() const { return retained_; }
  std::size_t allocated() const;  // allocations not freed

  // Calls with memory, a stream or a kernel of another context than the current one.
  std::vector<std::string> misplaced() const;

  // While it is set, a call that a global-mode capture forbids fails and sets `capture_broken`, unless the thread's
  // mode is relaxed.
  bool capturing = false;
  bool capture_broken = false;
  bool capturing_stream_waits = false;  // the capturing stream is one that the default stream's work would break
  static CUstreamCaptureMode& capture_mode();

 private:
  friend struct FakeCalls;
  CUresult note(const char* call);
  CUresult note_unsafe(const char* call);
  void check_owner(CUcontext owner, const char* call);
  void check_owner_of(CUdeviceptr address, const char* call);

  driver::Api api_;
  mutable std::mutex mutex_;
  std::mutex attributes_mutex_;  // of what kernels and devices are
  std::map<std::string, CUresult, std::less<>> failures_;
  std::vector<std::string> calls_;
  std::vector<Launch> launches_;
  struct Allocation {
    void* memory = nullptr;
    CUcontext owner = nullptr;
  };
  std::map<CUdeviceptr, Allocation> memory_;
  std::vector<std::string> misplaced_;
  int retained_ = 0;
};

// What the fake's cuTensorMapEncodeTiled, Im2col and Im2colWide write: the arguments, one after the other. Of the last
// two, `box` is the channels and the pixels.
struct FakeTensorMap {
  std::uint64_t address;
  std::uint64_t flags;  // all ones when encoded
  std::uint32_t type, rank;
  std::uint32_t swizzle, interleave;
  std::uint32_t l2, fill;
  std::array<std::uint64_t, 2> dims;
  std::uint64_t stride;
  std::array<std::uint32_t, 2> box;
  std::array<std::int32_t, 3> lower, upper;
  std::int32_t wide_mode;  // -1 but for Im2colWide
};

}  // namespace tma_jit::testing
