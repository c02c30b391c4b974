# Language, warnings, build options and output folders shared by every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

option(CUPOLA_TESTS "Build the tests" ON)
option(CUPOLA_COMPILER "Build the half that compiles, which needs LLVM, and what needs that: tools, tests" ON)
option(CUPOLA_BENCH "Build the benchmarks" ON)
option(CUPOLA_FUZZ "Build the libFuzzer targets" OFF)
option(CUPOLA_PYTHON "Build what a wheel of the Python package holds: pip sets it" OFF)
if(NOT CUPOLA_COMPILER)
  set(CUPOLA_TESTS OFF)
endif()
set(CUPOLA_SANITIZE "" CACHE STRING "address,undefined or thread: instrument everything built here")

add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror=switch -Werror=return-type
                    -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wthread-safety)
endif()
if(CUPOLA_SANITIZE)
  # Not function: it reads the 8 bytes before a called function, and generated code has none there. -O2: what the fuzz
  # preset instruments needs no more of its release build.
  set(CUPOLA_SANITIZE_OPTIONS -O2 -fsanitize=${CUPOLA_SANITIZE} -fno-sanitize=function -fno-omit-frame-pointer -g)
  add_compile_options(${CUPOLA_SANITIZE_OPTIONS})
  add_link_options(-fsanitize=${CUPOLA_SANITIZE})
endif()

find_program(CUPOLA_CCACHE ccache)
if(CUPOLA_CCACHE AND SKBUILD)  # what scripts/build says, so that pip finds what that compiled
  set(CUPOLA_CCACHE ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CUPOLA_CCACHE})
endif()
if(CUPOLA_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CUPOLA_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CUPOLA_CCACHE})
endif()
