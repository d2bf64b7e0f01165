// Confines a thread that runs a compiler so that it can open no files and reads only what it is given.
#pragma once

namespace tma_jit::compile {

// Changes to the folder "/", so that the working folder is the same in every worker. Revokes the right of the calling
// thread, and of threads and processes that it starts later, to open, make, remove or execute any file (Linux Landlock;
// needs no privilege and cannot be undone). Open descriptors stay usable. Returns false if the kernel has no Landlock
// (before 5.13, or disabled).
bool confine();

}  // namespace tma_jit::compile
