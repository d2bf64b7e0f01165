# Embeds kernel templates into an application, so that it needs no template files at run time.
#
#   tma_jit_embed_templates(TARGET NAME FILES a.cu b.cu own.cuh ...)
#
# TARGET gets a source with the files' bytes and can include <NAME.h>, which declares in namespace NAME:
#
#   struct File { std::string_view name, text; };
#   std::span<const File> files();
#   auto add_to(tma_jit::Engine&);      // add_template() for each file; the first failure, or success
#
# A kernel is named by its file name ("a.cu"), a header as templates include it ("device/own.cuh"). A changed file
# regenerates the source. This file is also the script that the build runs.

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(bytes "")
  set(table "")
  set(count 0)
  foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    if(name MATCHES "\\.cuh$")
      set(name "device/${name}")
    endif()
    file(READ ${file} hex HEX)
    string(LENGTH "${hex}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND bytes "const unsigned char file_${count}[] = {${hex}0};\n")
    string(APPEND table "    {\"${name}\", {reinterpret_cast<const char*>(file_${count}), ${size}}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  file(WRITE ${OUTPUT} "#include \"${NAME}.h\"\n\nnamespace {\n${bytes}const ${NAME}::File table[] = {\n${table}};\n}  // namespace\n\n"
    "std::span<const ${NAME}::File> ${NAME}::files() {\n  return table;\n}\n")
  return()
endif()

set(TMA_JIT_EMBED_TEMPLATES_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
set(TMA_JIT_EMBED_TEMPLATES_HEADER [[
// Templates that are part of this program, by tma_jit_embed_templates.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace @NAME@ {

struct File {
  std::string_view name;
  std::string_view text;
};

std::span<const File> files();

// Returns what Engine::add_template returns: the first failure, or success.
template <class Engine> auto add_to(Engine& engine) {
  decltype(engine.add_template(std::string(), std::string())) result;
  for (const File& file : files()) {
    result = engine.add_template(std::string(file.name), std::string(file.text));
    if (!result) break;
  }
  return result;
}

}  // namespace @NAME@
]])

function(tma_jit_embed_templates TARGET NAME)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "FILES")
  if(NOT TARGET ${TARGET})
    message(FATAL_ERROR "tma_jit_embed_templates: there is no target ${TARGET}")
  endif()
  if(NOT NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "tma_jit_embed_templates: ${NAME} names a namespace and a header, and must be a C++ identifier")
  endif()
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_FILES)
    message(FATAL_ERROR "tma_jit_embed_templates(TARGET NAME FILES file...): no FILES, or words before them")
  endif()
  set(files "")
  set(names "")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    if(NOT name MATCHES "\\.cuh?$")
      message(FATAL_ERROR "tma_jit_embed_templates: ${file} is neither a kernel (.cu) nor a device header (.cuh)")
    elseif(NOT EXISTS ${file})
      message(FATAL_ERROR "tma_jit_embed_templates: there is no file ${file}")
    elseif(name IN_LIST names)
      message(FATAL_ERROR "tma_jit_embed_templates: two files are named ${name}")
    endif()
    list(APPEND names ${name})
    if(name MATCHES "\\.cuh$") # a template can use a header only once that is added
      list(PREPEND files ${file})
    else()
      list(APPEND files ${file})
    endif()
  endforeach()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/tma_jit_templates)
  string(CONFIGURE "${TMA_JIT_EMBED_TEMPLATES_HEADER}" header @ONLY)
  file(CONFIGURE OUTPUT ${folder}/${NAME}.h CONTENT "${header}" @ONLY)
  add_custom_command(
    OUTPUT ${folder}/${NAME}.cpp
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${folder}/${NAME}.cpp -DNAME=${NAME} "-DFILES=${files}"
            -P ${TMA_JIT_EMBED_TEMPLATES_SCRIPT}
    DEPENDS ${files} ${TMA_JIT_EMBED_TEMPLATES_SCRIPT}
    COMMENT "Embedding templates ${NAME}" VERBATIM)
  target_sources(${TARGET} PRIVATE ${folder}/${NAME}.cpp)
  target_include_directories(${TARGET} PRIVATE ${folder})
endfunction()
