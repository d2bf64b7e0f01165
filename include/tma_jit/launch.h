// The last stage: a loaded kernel with its encoded arguments, ready to run; and Function, which finds a launch by
// shape.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <tma_jit/artifact.h>
#include <tma_jit/plan.h>
#include <tma_jit/request.h>

struct CUstream_st;

namespace tma_jit {

// A CUstream or cudaStream_t; the default is the legacy default stream. It has the type of CUDA's own handle, so that
// no CUDA header is needed.
using Stream = ::CUstream_st*;

// Owns its arguments, and shares the loaded kernel and the workspaces that the engine allocated. Move-only; may outlive
// its Engine. One thread at a time may call `launch` or `rebind` on one Launch; different Launches are independent. A
// captured launch copies its arguments into the graph, and the Launch must outlive the graph's replays. A Launch whose
// plan has workspaces runs one at a time: launches of it in several streams, or replays of its graphs, must be ordered.
class TMA_JIT_API Launch {
 public:
  Launch(Launch&&) noexcept;
  Launch& operator=(Launch&&) noexcept;
  ~Launch();

  // Calls cuLaunchKernelEx once, without allocation, lookup or access to the environment. Returns errors of the driver
  // only.
  [[nodiscard]] Result<void> launch(Stream stream = nullptr);

  // Replaces the address of a tensor, a hook's operand or a workspace of the caller by its name. Shape, strides and
  // type stay; the address must have the alignment that the plan assumes.
  [[nodiscard]] Result<void> rebind(std::string_view name, std::uint64_t address);
  [[nodiscard]] Result<void> rebind(std::string_view name, const void* address);

  const Plan& plan() const;
  const Artifact& artifact() const;

  struct State;  // private to the library

 private:
  friend struct LaunchInternals;
  explicit Launch(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// A kernel that is called with tensors each time: the first call for a shape prepares a launch, later calls find it.
// Thread-safe. Tensors come in the order of the template's declarations (a default-constructed Tensor stands for an
// absent optional one), then those of the request's operands. Workspaces that the engine provides are allocated once
// per shape and stream, so that calls on different streams never share one, and are kept until the Function is
// destroyed; CU_STREAM_PER_THREAD is a stream of each thread. A graph that captured a call uses the workspaces of the
// stream that captured it: its replays must not run beside calls on that stream, nor beside each other.
class TMA_JIT_API Function {
 public:
  Function(Function&&) noexcept;
  Function& operator=(Function&&) noexcept;
  ~Function();

  [[nodiscard]] Result<void> operator()(std::initializer_list<Tensor> tensors, Stream stream = nullptr);
  [[nodiscard]] Result<void> operator()(const Tensor* tensors, std::size_t count, Stream stream = nullptr);
  // The same with other values of scalars than the request's, by name; kernels do not depend on them. Fails (not_found)
  // if the kernel has no such scalar, and (invalid_argument) if its type cannot hold the value.
  [[nodiscard]] Result<void> operator()(const Tensor* tensors, std::size_t count,
                                        const std::map<std::string, Scalar>& scalars, Stream stream = nullptr);

  // Returns the tensors of a call that omits the optional ones that the params exclude, as indices into the template's
  // declarations. Thread-safe.
  [[nodiscard]] const std::vector<std::size_t>& usual_tensors() const;

  struct State;  // private to the library

 private:
  friend class Engine;
  explicit Function(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace tma_jit
