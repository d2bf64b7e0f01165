# Finds the dependencies and gathers them in one interface target, tma_jit_dependencies.
#
# TMA_JIT_LINKED lists those that a program with the static library must link too; TMA_JIT_LINKED_PACKAGES lists their
# packages, for the package configuration files.
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
add_library(tma_jit_dependencies INTERFACE)

if(TMA_JIT_STATIC_DEPENDENCIES)
  # Uses only the headers, not the packages' targets, because those add shared libraries.
  find_path(TMA_JIT_FMT_INCLUDE fmt/format.h REQUIRED)
  find_path(TMA_JIT_SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)
  target_include_directories(tma_jit_dependencies SYSTEM INTERFACE ${TMA_JIT_FMT_INCLUDE} ${TMA_JIT_SPDLOG_INCLUDE})
  target_compile_definitions(tma_jit_dependencies INTERFACE FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL)
  # libgcc stays shared. Threads that end by pthread_exit, as Python's daemon threads do, unwind by the shared one, and a
  # frame whose personality calls another copy aborts.
  target_link_options(tma_jit_dependencies INTERFACE -static-libstdc++)
  set(OPENSSL_USE_STATIC_LIBS ON)
  find_package(OpenSSL REQUIRED COMPONENTS Crypto)
  set(TMA_JIT_LINKED OpenSSL::Crypto Threads::Threads)
  set(TMA_JIT_LINKED_PACKAGES OpenSSL Threads)
else()
  find_package(fmt REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(OpenSSL REQUIRED COMPONENTS Crypto)
  set(TMA_JIT_LINKED fmt::fmt spdlog::spdlog OpenSSL::Crypto Threads::Threads)
  set(TMA_JIT_LINKED_PACKAGES fmt spdlog OpenSSL Threads)
endif()
# Debian's libzstd has no package configuration file for CMake.
find_path(TMA_JIT_ZSTD_INCLUDE zstd.h REQUIRED)
if(TMA_JIT_STATIC_DEPENDENCIES)
  find_library(TMA_JIT_ZSTD_LIBRARY NAMES libzstd.a REQUIRED)
  list(APPEND TMA_JIT_LINKED -l:libzstd.a)
else()
  find_library(TMA_JIT_ZSTD_LIBRARY NAMES zstd REQUIRED)
  list(APPEND TMA_JIT_LINKED zstd)
endif()
target_include_directories(tma_jit_dependencies SYSTEM INTERFACE ${TMA_JIT_ZSTD_INCLUDE})
# Only types, from cuda.h and nvrtc.h: neither library is linked.
find_path(TMA_JIT_CUDA_INCLUDE cuda.h
  HINTS ${CUDAToolkit_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda
  PATH_SUFFIXES include REQUIRED)

target_include_directories(tma_jit_dependencies SYSTEM INTERFACE ${TMA_JIT_CUDA_INCLUDE})
set(linked ${TMA_JIT_LINKED})
list(REMOVE_ITEM linked zstd -l:libzstd.a)
target_link_libraries(tma_jit_dependencies INTERFACE
  nlohmann_json::nlohmann_json ${linked} ${TMA_JIT_ZSTD_LIBRARY} ${CMAKE_DL_LIBS})
