// A cubin loaded into a context, its entry point found and its parameter list read.
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

// Unloaded when the last share goes. Thread-safe.
class Kernel {
 public:
  // `compiler` says who built the cubin, for the error of a driver that is too old for it. `refused`, where given,
  // becomes true where it is these bytes that the driver does not take, as against a failure that others would meet.
  [[nodiscard]] static Result<std::shared_ptr<const Kernel>> load(const SharedContext& context,
                                                                  const Artifact& artifact, std::string_view compiler,
                                                                  bool* refused = nullptr);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // The plan's arguments lie where the compiled kernel reads its parameters, or the first that does not is named.
  // Passes where the driver (before CUDA 12.4) cannot tell.
  [[nodiscard]] Result<void> check_arguments(std::span<const Argument> arguments) const;

  // The device can run one block, and one cluster, of this geometry. Raises the kernel's limit of dynamic shared
  // memory and allows clusters above 8 blocks where the geometry needs them, and only then.
  [[nodiscard]] Result<void> admit(const Geometry& geometry) const;

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
  std::vector<std::size_t> parameters_;  // bytes of each
  bool parameters_known_ = false;
  mutable std::mutex attributes_mutex_;
};
using SharedKernel = std::shared_ptr<const Kernel>;

}  // namespace tma_jit::driver
