// Writing to a file that may be at a limit of its size.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace tma_jit {

// As ::write and ::pwrite, except that a file which would outgrow RLIMIT_FSIZE is EFBIG and nothing else: the signal
// SIGXFSZ, which ends a process by default, is not delivered. The program's disposition and mask stay as they are.
ssize_t write_some(int file, const void* bytes, std::size_t size);
ssize_t write_some_at(int file, const void* bytes, std::size_t size, off_t at);

}  // namespace tma_jit
