# cupola_drop_in(target NAME name [VERSION a.b SOVERSION a] MAP file [STAYS]): the target becomes the shared library that programs know
# as lib/libNAME.so.A, on macOS as lib/libNAME.dylib without a number. It exports what the version script MAP says and nothing
# of the archives in it, and lacks no symbol. With STAYS it is never unloaded, because programs hold what it gave them until
# they end.
function(cupola_drop_in target)
  cmake_parse_arguments(ARG "STAYS" "NAME;VERSION;SOVERSION;MAP" "" ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${ARG_NAME} LINK_DEPENDS ${ARG_MAP})
  if(APPLE)
    cupola_exported_symbols(${ARG_MAP} list)
    target_link_options(${target} PRIVATE LINKER:-exported_symbols_list,${list} LINKER:-dead_strip)
    if(ARG_STAYS)
      target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/cuda/stays_loaded_macos.cpp)
    endif()
    return()
  endif()
  if(ARG_VERSION)
    set_target_properties(${target} PROPERTIES VERSION ${ARG_VERSION} SOVERSION ${ARG_SOVERSION})
  endif()
  target_link_options(${target} PRIVATE LINKER:--version-script=${ARG_MAP})
  if(ARG_STAYS)
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:-z,nodelete LINKER:--gc-sections)
  endif()
  if(NOT CUPOLA_SANITIZE)  # a sanitizer's functions come from the program
    target_link_options(${target} PRIVATE LINKER:-z,defs)
  endif()
endfunction()

# cupola_optimise_together(target archive...): the shared library and the archives in it are optimised as one program, when it
# is linked: calls between their files are most of what a launch costs. Other programs link the same archives as they are.
# Where LLVM's linker does not lie beside the compiler, and under sanitizers: nothing.
function(cupola_optimise_together target)
  file(REAL_PATH ${CMAKE_CXX_COMPILER} compiler)
  get_filename_component(folder ${compiler} DIRECTORY)
  find_program(CUPOLA_LLD NAMES ld.lld PATHS ${folder} NO_DEFAULT_PATH)  # another version's cannot read what this one writes
  if(APPLE OR CUPOLA_SANITIZE OR NOT CUPOLA_LLD OR NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    return()
  endif()
  foreach(part ${target} ${ARGN})
    target_compile_options(${part} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-flto=thin> $<$<COMPILE_LANGUAGE:C,CXX>:-ffat-lto-objects>)
  endforeach()
  target_link_options(${target} PRIVATE -flto=thin -ffat-lto-objects -fuse-ld=lld
                      LINKER:--thinlto-cache-dir=${CMAKE_BINARY_DIR}/thinlto-cache)
endfunction()

# What a version script exports, as the list of Apple's linkers: a file with a line a pattern, and an underscore before each.
function(cupola_exported_symbols map result)
  file(READ ${map} text)
  string(REGEX REPLACE ".*global:([^}]*)local:.*" "\\1" names "${text}")
  string(REGEX MATCHALL "[A-Za-z_][A-Za-z_0-9]*\\*?" names "${names}")
  list(TRANSFORM names PREPEND "_")
  list(JOIN names "\n" text)
  get_filename_component(name ${map} NAME_WE)
  get_filename_component(folder ${map} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  set(list ${CMAKE_BINARY_DIR}/exported-symbols/${folder}-${name}.txt)
  file(CONFIGURE OUTPUT ${list} CONTENT "${text}\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
  set(${result} ${list} PARENT_SCOPE)
endfunction()
