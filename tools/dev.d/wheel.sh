# shellcheck shell=bash
# Makes a wheel of the Python package that runs on other distributions.

command_wheel() {
  prepare_machine "${build_packages[@]}" python3-dev python3-venv
  install_python_packages
  [[ -x build-venv/bin/auditwheel ]] || fail "the packages for Python are missing: ${python_packages[*]}"
  PATH=$PWD/build-venv/bin:$PATH CMAKE_BUILD_PARALLEL_LEVEL=$(parallel_jobs) \
    build-venv/bin/python -m pip wheel . --no-deps --no-build-isolation -q -w build-wheels
  ls -l build-wheels/*.whl
}
