# Libraries the project builds on. Static where a library ends up inside libcuda, which is loaded into foreign processes.
find_package(Threads REQUIRED)
find_path(fmt_headers NAMES fmt/format.h REQUIRED)  # headers only; src/base/format.cpp holds its code
find_path(xxhash_headers NAMES xxhash.h REQUIRED)
include_directories(SYSTEM ${fmt_headers} ${xxhash_headers})
if(CUPOLA_TESTS)  # what stands for a GPU runs its threads so
  set(Boost_USE_STATIC_LIBS ON)
  find_package(Boost 1.74 REQUIRED COMPONENTS context)
endif()
foreach(name lz4 zstd)  # payloads of fat binaries; neither package brings a CMake file everywhere
  find_path(${name}_headers NAMES ${name}.h REQUIRED)
  find_library(${name}_library NAMES lib${name}.a ${name} REQUIRED)
endforeach()
add_library(LZ4::LZ4 UNKNOWN IMPORTED)
set_target_properties(LZ4::LZ4 PROPERTIES IMPORTED_LOCATION ${lz4_library} INTERFACE_INCLUDE_DIRECTORIES ${lz4_headers})
if(NOT TARGET zstd::libzstd)
  add_library(zstd::libzstd UNKNOWN IMPORTED)
  set_target_properties(zstd::libzstd PROPERTIES IMPORTED_LOCATION ${zstd_library} INTERFACE_INCLUDE_DIRECTORIES ${zstd_headers})
endif()

if(CUPOLA_COMPILER)
  find_package(CLI11 REQUIRED)
  include(llvm)
endif()

if(CUPOLA_TESTS)
  find_package(GTest REQUIRED)
  # The judge of approximate instructions. Its package brings no CMake file.
  find_path(mpfr_headers NAMES mpfr.h REQUIRED)
  find_library(mpfr_library NAMES mpfr REQUIRED)
  add_library(MPFR::MPFR UNKNOWN IMPORTED)
  set_target_properties(MPFR::MPFR PROPERTIES IMPORTED_LOCATION ${mpfr_library} INTERFACE_INCLUDE_DIRECTORIES ${mpfr_headers})
endif()
