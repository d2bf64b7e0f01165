# Finds what the library is built on and gathers it in one interface target, tma_jit_dependencies.
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
if(TMA_JIT_STATIC_DEPENDENCIES)
  set(OPENSSL_USE_STATIC_LIBS ON)
endif()
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Threads REQUIRED)
# Types only, from cuda.h and nvrtc.h: neither library is linked.
find_path(TMA_JIT_CUDA_INCLUDE cuda.h
  HINTS ${CUDAToolkit_ROOT} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda
  PATH_SUFFIXES include REQUIRED)

add_library(tma_jit_dependencies INTERFACE)
target_include_directories(tma_jit_dependencies SYSTEM INTERFACE ${TMA_JIT_CUDA_INCLUDE})
target_link_libraries(tma_jit_dependencies INTERFACE
  $<IF:$<BOOL:${TMA_JIT_STATIC_DEPENDENCIES}>,fmt::fmt-header-only,fmt::fmt>
  $<IF:$<BOOL:${TMA_JIT_STATIC_DEPENDENCIES}>,spdlog::spdlog_header_only,spdlog::spdlog>
  nlohmann_json::nlohmann_json OpenSSL::Crypto Threads::Threads ${CMAKE_DL_LIBS})
