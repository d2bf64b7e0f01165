// A cubin loaded into a context, with its entry point and parameter list.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/plan.h>

#include "driver/context.h"

namespace tma_jit::driver {

// Unloaded when the last owner releases it. Thread-safe.
class Kernel {
 public:
  // `compiler` is the compiler that built the cubin, for the error of a driver that is too old for it. If not null,
  // `refused` is set to whether the driver rejects these bytes, as opposed to a failure that any image would have.
  [[nodiscard]] static Result<std::shared_ptr<const Kernel>> load(const SharedContext& context,
                                                                  const Artifact& artifact, std::string_view compiler,
                                                                  bool* refused = nullptr);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Fails unless the plan's arguments lie where the compiled kernel reads its parameters; the error names the first
  // that does not. Succeeds if the driver (before CUDA 12.4) cannot tell.
  [[nodiscard]] Result<void> check_arguments(std::span<const Argument> arguments) const;

  // Fails unless the device can run one block and one cluster of this geometry. Raises the kernel's limit of dynamic
  // shared memory and permits clusters above 8 blocks, only if the geometry needs them.
  [[nodiscard]] Result<void> admit(const Geometry& geometry) const;

  // Tells an emulated device that this is a reference. Has no effect on other devices.
  void mark_reference() const;

  const Context& context() const { return *context_; }
  const SharedContext& shared_context() const { return context_; }
  CUfunction function() const { return function_; }
  const std::string& name() const { return name_; }

 private:
  Kernel(SharedContext context, std::string name) : context_(std::move(context)), name_(std::move(name)) {}
  [[nodiscard]] Result<void> find_function(bool& refused);
  [[nodiscard]] Result<void> read_parameters(CUkernel kernel);
  [[nodiscard]] Result<int> attribute(CUfunction_attribute attribute) const;
  [[nodiscard]] Result<void> set_attribute(CUfunction_attribute attribute, int value) const;
  [[nodiscard]] Result<void> admit_block(const Geometry& geometry) const;
  [[nodiscard]] Result<void> admit_shared_memory(std::uint32_t dynamic_bytes) const;
  [[nodiscard]] Result<void> admit_cluster(const Geometry& geometry) const;

  SharedContext context_;
  std::string name_;
  CUlibrary library_ = nullptr;
  CUfunction function_ = nullptr;
  std::vector<std::size_t> parameters_;  // size of each, in bytes
  bool parameters_known_ = false;
  mutable std::mutex attributes_mutex_;
};
using SharedKernel = std::shared_ptr<const Kernel>;

}  // namespace tma_jit::driver
