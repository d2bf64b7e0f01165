// Writing to a file that may reach its size limit.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace tma_jit {

// Like ::write and ::pwrite, but exceeding RLIMIT_FSIZE only gives EFBIG: the signal SIGXFSZ, which ends a process by
// default, is not delivered. The program's signal disposition and mask stay unchanged.
ssize_t write_some(int file, const void* bytes, std::size_t size);
ssize_t write_some_at(int file, const void* bytes, std::size_t size, off_t at);

}  // namespace tma_jit
