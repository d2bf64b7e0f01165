#pragma once
// Groups of bulk copies that write global memory. They belong to the thread that issues and commits them.
// PTX ISA 9.0, "cp.async.bulk.commit_group" and "cp.async.bulk.wait_group".
#include "device/types.cuh"

namespace bulk {

__device__ inline void commit() {
  asm volatile("cp.async.bulk.commit_group;");
}
// Returns when at most Pending groups still read shared memory; their writes may not be visible yet.
template <int Pending> __device__ inline void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
// Returns when at most Pending groups are incomplete: the others' writes are visible to this thread.
template <int Pending> __device__ inline void wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

}  // namespace bulk
