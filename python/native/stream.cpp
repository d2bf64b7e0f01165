#include "stream.h"

#include <array>

namespace tma_jit::python {
namespace {

Stream stream_at(nb::handle address) {
  return reinterpret_cast<Stream>(read_as<std::uintptr_t>(address, "a stream's address"));
}

// Returns the attributes of PyTorch's and of CuPy's streams, made once and kept until the process ends.
const std::array<nb::str, 2>& attributes() {
  static const auto* const kept = new std::array<nb::str, 2>{nb::str("cuda_stream"), nb::str("ptr")};
  return *kept;
}

}  // namespace

Stream read_stream(nb::handle stream) {
  if (stream.is_none()) return nullptr;
  if (PyLong_Check(stream.ptr())) return stream_at(stream);
  for (const nb::str& attribute : attributes()) {
    if (const nb::object address = nb::getattr(stream, attribute, nb::handle()); address.is_valid()) {
      return stream_at(address);
    }
  }
  const nb::object protocol = nb::getattr(stream, "__cuda_stream__", nb::none());
  if (!protocol.is_none()) return stream_at(read_as<nb::tuple>(protocol(), "what __cuda_stream__ returns")[1]);
  // JAX has no object for a stream. Its device names the one on which arrays that it takes by DLPack must be ready.
  const nb::object of_jax = nb::getattr(stream, "get_stream_for_external_ready_events", nb::none());
  if (!of_jax.is_none()) return stream_at(of_jax());
  raise_invalid(
      "the stream is neither an address, a stream of PyTorch or CuPy nor a device of JAX, and has no __cuda_stream__");
}

}  // namespace tma_jit::python
