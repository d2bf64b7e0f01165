# One Debian package of everything that is installed, made by CPack: `tools/dev package`.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # a package does not need the tests to be built
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tma-jit)
set(CPACK_PACKAGE_CONTACT "The tma-jit developers <tma-jit@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libexpected-dev)  # the C++ headers include tl/expected.hpp
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
