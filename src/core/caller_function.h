// Functions of the caller that the library calls.
#pragma once

#include <cxxabi.h>

namespace tma_jit {

// Calls `call`, which calls a function of the caller. What it throws is dropped, because no exception crosses the API
// and most of these functions are called in threads of the library.
template <class Call> void call_caller(const Call& call) {
  try {
    call();
  } catch (const abi::__forced_unwind&) {  // the thread is being cancelled
    throw;
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace tma_jit
