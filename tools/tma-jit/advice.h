// One line of advice about a failure, based on the error and on the machine.
#pragma once

#include <string>

#include <tma_jit/engine.h>

namespace tma_jit::cli {

std::string advice_for_driver(const Error& error);
std::string advice_for_device(const Error& error);
std::string advice_for_compiler();
// For a kernel that was to be built or launched.
std::string advice_for_kernel(const Error& error, const Environment& found);
// For a kernel that ran with wrong results; `words` are the arguments of `tma-jit run` that reproduce it.
std::string advice_for_wrong_result(const std::string& words);

}  // namespace tma_jit::cli
