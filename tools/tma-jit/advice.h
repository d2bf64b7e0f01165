// What to do about a failure: one line for people, by what failed and what the machine has.
#pragma once

#include <string>

#include <tma_jit/engine.h>

namespace tma_jit::cli {

std::string advice_for_driver(const Error& error);
std::string advice_for_device(const Error& error);
std::string advice_for_compiler();
// Of a kernel that was to be built or launched.
std::string advice_for_kernel(const Error& error, const Environment& found);
// Of a kernel that ran and was wrong; `words` is how `tma-jit run` shows it again.
std::string advice_for_wrong_result(const std::string& words);

}  // namespace tma_jit::cli
