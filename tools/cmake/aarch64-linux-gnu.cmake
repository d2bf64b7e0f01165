# Toolchain: the distribution's cross compiler for 64-bit Arm (Grace, Jetson, DGX Spark). `tools/dev arm64` uses it with
# -DTMA_JIT_ARM64_SYSROOT=dir, the folder with libcrypto and libzstd for that architecture.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TMA_JIT_ARM64_SYSROOT)
set(OPENSSL_CRYPTO_LIBRARY ${TMA_JIT_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu/libcrypto.a CACHE FILEPATH "")
set(TMA_JIT_ZSTD_LIBRARY ${TMA_JIT_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu/libzstd.a CACHE FILEPATH "")
set(TMA_JIT_ZSTD_INCLUDE ${TMA_JIT_ARM64_SYSROOT}/usr/include CACHE PATH "")
set(OPENSSL_INCLUDE_DIR ${TMA_JIT_ARM64_SYSROOT}/usr/include CACHE PATH "")
set(CMAKE_CXX_FLAGS_INIT "-isystem ${TMA_JIT_ARM64_SYSROOT}/usr/include/aarch64-linux-gnu")
