# LLVM and clang, which the half that compiles links.
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

find_program(CUPOLA_CLANG NAMES clang++-22 clang++ HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(CUPOLA_LLVM_LINK NAMES llvm-link-22 llvm-link HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(CUPOLA_OPT NAMES opt-22 opt HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
