# How the toolchain macos-arm64 links, after CMake's own rules for macOS. zig's own linker knows no lists of exported symbols. The C++
# library is linked in, so that no program's own one meets ours.
set(link "${CUPOLA_LD64} -arch arm64 -platform_version macos ${oldest} ${oldest} -headerpad_max_install_names")
set(system)
foreach(file libc++.a libc++abi.a libcompiler_rt.a libSystem.tbd)
  string(APPEND system " ${CUPOLA_MACOS_SDK}/lib/${file}")
endforeach()
set(CMAKE_SHARED_LIBRARY_RUNTIME_C_FLAG "-rpath ")  # CMake gives libraries names with @rpath where it knows this
foreach(language C CXX)
  set(CMAKE_${language}_LINKER_WRAPPER_FLAG "")
  set(CMAKE_${language}_CREATE_SHARED_LIBRARY
    "${link} -dylib -install_name <TARGET_INSTALLNAME_DIR><TARGET_SONAME> <LINK_FLAGS> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>${system}")
endforeach()
