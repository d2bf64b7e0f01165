//! kernel  no_compile  "a body that does not compile"
//! arch    sm_90a
//! dim     N
//! launch  grid 1  block 128

extern "C" __global__ void no_compile(const Dims dims) { undeclared(dims.N); }
