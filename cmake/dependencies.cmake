# Libraries the project builds on. Static where a library ends up inside libcuda, which is loaded into foreign processes.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)  # headers only; src/base/format.cpp holds its code
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(CLI11 REQUIRED)
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

find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/llvm)
add_library(cupola-LLVM INTERFACE)
target_include_directories(cupola-LLVM SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_definitions(cupola-LLVM INTERFACE ${llvm_definitions})
target_link_libraries(cupola-LLVM INTERFACE LLVM)

# clang as a library, for the front end. Its own package files name targets that Debian's packages lack.
find_path(clang_headers NAMES clang/Frontend/CompilerInstance.h HINTS ${LLVM_INCLUDE_DIRS} REQUIRED)
find_library(clang_library NAMES clang-cpp HINTS ${LLVM_LIBRARY_DIRS} REQUIRED)
add_library(cupola-clang INTERFACE)
target_include_directories(cupola-clang SYSTEM INTERFACE ${clang_headers})
target_link_libraries(cupola-clang INTERFACE ${clang_library} cupola-LLVM)

find_program(CUPOLA_CLANG NAMES clang++-22 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(CUPOLA_LLVM_LINK NAMES llvm-link-22 llvm-link HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(CUPOLA_OPT NAMES opt-22 opt HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

if(CUPOLA_TESTS)
  find_package(GTest REQUIRED)
  # The judge of approximate instructions. Its package brings no CMake file.
  find_path(mpfr_headers NAMES mpfr.h REQUIRED)
  find_library(mpfr_library NAMES mpfr REQUIRED)
  add_library(MPFR::MPFR UNKNOWN IMPORTED)
  set_target_properties(MPFR::MPFR PROPERTIES IMPORTED_LOCATION ${mpfr_library} INTERFACE_INCLUDE_DIRECTORIES ${mpfr_headers})
endif()
