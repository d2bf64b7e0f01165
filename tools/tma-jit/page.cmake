# Compiles the page of `report` into the command, with the plotting library that draws it: chart.js 3 or newer, of Debian's
# package libjs-chart.js or wherever CHART_JS and CHART_JS_LICENCE say. Without it the verb says that it is missing.
find_file(CHART_JS NAMES chart.min.js Chart.min.js chart.umd.js
  PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist DOC "chart.js, minified" NO_CMAKE_FIND_ROOT_PATH)
find_file(CHART_JS_LICENCE NAMES copyright LICENSE.md
  PATHS /usr/share/doc/libjs-chart.js /usr/share/nodejs/chart.js DOC "The licence of chart.js" NO_CMAKE_FIND_ROOT_PATH
  NO_DEFAULT_PATH)
set(page ${CMAKE_CURRENT_BINARY_DIR}/page)
set(pages page.html page.css page.js)
foreach(file IN LISTS pages)
  configure_file(report/${file} ${page}/${file} COPYONLY)
endforeach()
set(version "")
if(CHART_JS AND CHART_JS_LICENCE)
  file(STRINGS ${CHART_JS} version REGEX "Chart\\.js v([3-9]|[1-9][0-9])\\." LIMIT_COUNT 1 LIMIT_INPUT 1000)
endif()
if(version)
  configure_file(${CHART_JS} ${page}/chart.js COPYONLY)
  configure_file(${CHART_JS_LICENCE} ${page}/licence.txt COPYONLY)
  list(APPEND pages chart.js licence.txt)
else()
  message(STATUS "chart.js 3 or newer (libjs-chart.js) is missing: tma-jit report is left out")
endif()
list(TRANSFORM pages PREPEND ${page}/)
set(report_files ${CMAKE_CURRENT_BINARY_DIR}/report_page.cpp)
tma_jit_embed(OUTPUT ${report_files} SYMBOL kReportFiles BASE ${page} FILES ${pages}
  HEADER report_files.h NAMESPACE tma_jit::cli)
set_source_files_properties(${report_files} PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR} SKIP_PRECOMPILE_HEADERS ON)
