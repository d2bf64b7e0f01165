# shellcheck shell=bash
# Makes a Debian package of the installed files.

command_package() {
  prepare_machine "${build_packages[@]}" dpkg-dev file
  build_product
  (cd build && cpack -G DEB)
  ls build/*.deb
}
