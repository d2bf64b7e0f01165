# Headers, libraries, the command, and what find_package and pkg-config need to find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tma_jit)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tma_jit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(kind shared static)
  string(TOUPPER ${kind} KIND)
  if(TMA_JIT_BUILD_${KIND})
    install(TARGETS tma_jit_${kind} EXPORT tma_jit_${kind}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT tma_jit_${kind} NAMESPACE tma_jit:: FILE tma_jit-${kind}.cmake DESTINATION ${package_folder})
  endif()
endforeach()
install(TARGETS tma-jit-cc EXPORT tma_jit-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tma-jit)
install(EXPORT tma_jit-worker NAMESPACE tma_jit:: FILE tma_jit-worker.cmake DESTINATION ${package_folder})
install(FILES ${CMAKE_CURRENT_LIST_DIR}/TmaJitCompileWorker.cmake DESTINATION ${package_folder})
if(TMA_JIT_BUILD_TOOLS)
  install(TARGETS tma-jit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/cache/warm.jsonl DESTINATION ${CMAKE_INSTALL_DATADIR}/tma-jit)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tma_jit-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/tma_jit-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/tma_jit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/tma_jit-config.cmake
  ${PROJECT_BINARY_DIR}/package/tma_jit-config-version.cmake
  DESTINATION ${package_folder})
file(GLOB embedding ${CMAKE_CURRENT_LIST_DIR}/*Embed*Templates*.cmake)
install(FILES ${embedding} DESTINATION ${package_folder})

# Private to the static library: what it needs beside itself.
set(TMA_JIT_PC_REQUIRES "libcrypto libzstd")
if(NOT TMA_JIT_STATIC_DEPENDENCIES)
  string(APPEND TMA_JIT_PC_REQUIRES " fmt spdlog")
endif()
file(RELATIVE_PATH TMA_JIT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tma_jit.pc.in ${PROJECT_BINARY_DIR}/package/tma_jit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/tma_jit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
