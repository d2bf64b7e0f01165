// The forms of each family of instructions, one function per file of forms.
#pragma once

#include "emulator/decode/form.h"

namespace tma_jit::emulator::isa {

using decode::Assembler;
using decode::Form;
using decode::Needs;
using decode::Rule;

std::span<const Form> arithmetic_forms();
std::span<const Form> logic_forms();
std::span<const Form> convert_forms();
std::span<const Form> memory_forms();
std::span<const Form> control_forms();
std::span<const Form> warp_forms();
std::span<const Form> mbarrier_forms();
std::span<const Form> copy_forms();
std::span<const Form> cp_async_forms();
std::span<const Form> cluster_forms();
std::span<const Form> matrix_forms();
std::span<const Form> tcgen05_forms();
std::span<const Form> tensormap_forms();
std::span<const Form> launch_forms();

}  // namespace tma_jit::emulator::isa
