# A toolchain for Apple Silicon from elsewhere: zig's clang, with the headers and the C++ library that zig brings, and LLVM's linker.
# scripts/macos_build.py makes the folder CUPOLA_MACOS_SDK: include, lib with libSystem.tbd and archives, zig.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(oldest 13.0)  # the oldest macOS that what is built runs on
set(CUPOLA_MACOS_SDK "" CACHE PATH "What scripts/macos_build.py made")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CUPOLA_MACOS_SDK)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(CMAKE_C_COMPILER ${CUPOLA_MACOS_SDK}/bin/cc)
set(CMAKE_CXX_COMPILER ${CUPOLA_MACOS_SDK}/bin/c++)
set(CMAKE_ASM_COMPILER ${CUPOLA_MACOS_SDK}/bin/cc)
find_program(CMAKE_AR NAMES llvm-ar-22 llvm-ar REQUIRED)
find_program(CMAKE_RANLIB NAMES llvm-ranlib-22 llvm-ranlib REQUIRED)
find_program(CMAKE_INSTALL_NAME_TOOL NAMES llvm-install-name-tool-22 llvm-install-name-tool REQUIRED)
find_program(CMAKE_OTOOL NAMES llvm-otool-22 llvm-otool REQUIRED)
find_program(CUPOLA_LD64 NAMES ld64.lld-22 ld64.lld REQUIRED)
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_FIND_ROOT_PATH ${CUPOLA_MACOS_SDK})
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# Functions that are younger than the target are errors.
set(CMAKE_C_FLAGS_INIT "-Werror=unguarded-availability-new")
set(CMAKE_CXX_FLAGS_INIT "-Werror=unguarded-availability-new")

set(CMAKE_USER_MAKE_RULES_OVERRIDE ${CMAKE_CURRENT_LIST_DIR}/macos-arm64-linking.cmake)
