//! kernel  broken  "a manifest that does not parse"
//! arch    sm_90a
//! dim     N
//! parm    THREADS = 256
//! launch  grid 1  block 128

extern "C" __global__ void broken(const Dims dims) {}
