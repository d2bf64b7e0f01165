// A thread that can open no file any more, so that a compiler reads nothing but what it is given.
#pragma once

namespace tma_jit::compile {

// Moves to the folder "/", so that what the compiler takes from its working folder is the same in every worker. Takes
// from the calling thread, and the threads and processes that it starts later, the right to open, make, remove or
// execute any file (Linux Landlock; no privilege is needed, and it cannot be undone). Open descriptors stay usable.
// Returns false where the kernel has no Landlock (before 5.13, or switched off).
bool confine();

}  // namespace tma_jit::compile
