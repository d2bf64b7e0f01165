// The last stage: a kernel that is loaded, its arguments encoded, ready to run. And the call that finds one by shape.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>

#include <tma_jit/artifact.h>
#include <tma_jit/plan.h>

struct CUstream_st;

namespace tma_jit {

// A CUstream or cudaStream_t; the default is the legacy default stream. Typed as CUDA's own handle so that no CUDA
// header is needed.
using Stream = ::CUstream_st*;

// Owns its arguments and a share of the loaded kernel and of the workspaces the engine made. Move-only; outlives its
// Engine. One thread at a time may call `launch` or `rebind` on one Launch; different Launches are independent. A
// captured launch copies the arguments into the graph; the Launch must outlive the graph's replays.
class TMA_JIT_API Launch {
 public:
  Launch(Launch&&) noexcept;
  Launch& operator=(Launch&&) noexcept;
  ~Launch();

  // One cuLaunchKernelEx: no allocation, no lookup, no environment. Errors of the driver only.
  [[nodiscard]] Result<void> launch(Stream stream = nullptr);

  // Replaces the address of a tensor (an operand's or a caller's workspace too) by its name. The shape, strides and
  // type stay; the address must keep the alignment the plan was made for.
  [[nodiscard]] Result<void> rebind(std::string_view name, std::uint64_t address);
  [[nodiscard]] Result<void> rebind(std::string_view name, const void* address);

  const Plan& plan() const;
  const Artifact& artifact() const;

  struct State;  // the library's own

 private:
  friend struct LaunchInternals;
  explicit Launch(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// A kernel called with tensors each time: the first call of a shape prepares, later ones find the prepared launch.
// Thread-safe. Tensors come in the order of the template's declaration (inputs and outputs as declared; a
// default-constructed Tensor stands for an absent optional one), then those of the request's operands. Workspaces that
// the engine provides are made once for each shape and stream, so that calls on different streams never share one, and
// are kept for the Function's life.
class TMA_JIT_API Function {
 public:
  Function(Function&&) noexcept;
  Function& operator=(Function&&) noexcept;
  ~Function();

  [[nodiscard]] Result<void> operator()(std::initializer_list<Tensor> tensors, Stream stream = nullptr);
  [[nodiscard]] Result<void> operator()(const Tensor* tensors, std::size_t count, Stream stream = nullptr);

  struct State;  // the library's own

 private:
  friend class Engine;
  explicit Function(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tma_jit
