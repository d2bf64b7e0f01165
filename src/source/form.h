// A target's name determines what is compiled for it: machine code for "sm_90a", PTX for the virtual "compute_90a".
#pragma once

#include <string>
#include <string_view>

#include <tma_jit/artifact.h>

namespace tma_jit::source {

inline Artifact::Form form_of(std::string_view arch) {
  return arch.starts_with("compute_") ? Artifact::Form::ptx : Artifact::Form::cubin;
}

// Returns the virtual architecture of a target; a virtual one is returned unchanged.
inline std::string virtual_of(std::string_view arch) {
  return arch.starts_with("sm_") ? "compute_" + std::string(arch.substr(3)) : std::string(arch);
}

}  // namespace tma_jit::source
