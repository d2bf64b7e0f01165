# Installs the headers, libraries and the command, and the files for find_package and pkg-config.
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
# A separate component: the core works without it, and a package may omit it.
if(TMA_JIT_BUILD_EMULATOR)
  install(TARGETS tma_jit_emulator EXPORT tma_jit-emulator LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT emulator)
  install(EXPORT tma_jit-emulator NAMESPACE tma_jit:: FILE tma_jit-emulator.cmake DESTINATION ${package_folder}
    COMPONENT emulator)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/TmaJitEmulator.cmake DESTINATION ${package_folder} COMPONENT emulator)
endif()
if(TMA_JIT_BUILD_REMOTE)
  install(TARGETS tma_jit_remote LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT remote)
endif()
install(TARGETS tma-jit-cc EXPORT tma_jit-worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tma-jit)
install(EXPORT tma_jit-worker NAMESPACE tma_jit:: FILE tma_jit-worker.cmake DESTINATION ${package_folder})
install(FILES ${CMAKE_CURRENT_LIST_DIR}/TmaJitCompileWorker.cmake DESTINATION ${package_folder})
if(TMA_JIT_BUILD_TOOLS)
  install(TARGETS tma-jit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  include(TmaJitShell)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/cache/warm.jsonl DESTINATION ${CMAKE_INSTALL_DATADIR}/tma-jit)
# The library embeds these records, too. They are installed to be read and merged.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cache/tuned DESTINATION ${CMAKE_INSTALL_DATADIR}/tma-jit FILES_MATCHING PATTERN "*.jsonl")
# The library embeds these files. They are installed for editors, which resolve a template's #include "device/..." below
# this folder.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/templates DESTINATION ${CMAKE_INSTALL_DATADIR}/tma-jit
  FILES_MATCHING PATTERN "*.cu" PATTERN "*.cuh")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tma_jit-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/tma_jit-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/tma_jit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/tma_jit-config.cmake
  ${PROJECT_BINARY_DIR}/package/tma_jit-config-version.cmake
  DESTINATION ${package_folder})
file(GLOB embedding ${CMAKE_CURRENT_LIST_DIR}/*Embed*Templates*.cmake)
install(FILES ${embedding} DESTINATION ${package_folder})

# The other libraries that the static library needs. Listed as libraries instead of packages, because pkg-config
# requires private packages to be installed even if they are not used, and the shared library needs none.
set(TMA_JIT_PC_LIBS "-lcrypto -lzstd -pthread -ldl")
if(NOT TMA_JIT_STATIC_DEPENDENCIES)
  string(PREPEND TMA_JIT_PC_LIBS "-lspdlog -lfmt ")
endif()
set(TMA_JIT_PC_EMULATOR "")
if(TMA_JIT_BUILD_EMULATOR)
  set(TMA_JIT_PC_EMULATOR "\${libdir}/libtma_jit_emulator.so")
endif()
file(RELATIVE_PATH TMA_JIT_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tma_jit.pc.in ${PROJECT_BINARY_DIR}/package/tma_jit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/tma_jit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
