# What `cmake --install` and CPack take besides what the folders' own rules name. A prefix has the layout of the build tree:
# bin, lib, lib/cupola, include/cuda. Nothing in it holds an absolute path, so that it can be moved as a whole; except that
# libcudart_static.a knows where libcuda lies, for programs without a RUNPATH.
install(TARGETS cupola-cuda-driver cupola-cuda-cudart cupola-compiler cupola-frontend LIBRARY DESTINATION lib)
install(TARGETS cupola-cuda-cudart-static ARCHIVE DESTINATION lib)
install(FILES LICENSE DESTINATION share/doc/cupola)

configure_file(${CMAKE_CURRENT_LIST_DIR}/cupola.pc.in ${CMAKE_BINARY_DIR}/cupola.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cupola.pc DESTINATION lib/pkgconfig)

# The member of the archive that names the folder is made anew for the prefix.
string(CONFIGURE [[
  set(folder "${CMAKE_INSTALL_PREFIX}/lib")
  get_filename_component(folder "${folder}" ABSOLUTE)
  set(object "$ENV{DESTDIR}${folder}/default_folder.c.o")  # not in the build tree, which may belong to another user
  execute_process(COMMAND "@CMAKE_C_COMPILER@" -fPIC "-DCUPOLA_FOLDER=\"${folder}\"" -c
    "@CMAKE_SOURCE_DIR@/src/cuda/cudart/default_folder.c" -o "${object}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "@CMAKE_AR@" r "$ENV{DESTDIR}${folder}/libcudart_static.a" "${object}" COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE "${object}")
]] member @ONLY)
install(CODE "${member}")

# lib/cupola/uninstall removes what was installed, wherever the prefix is then.
install(PROGRAMS ${CMAKE_SOURCE_DIR}/scripts/uninstall DESTINATION lib/cupola)
install(CODE [[
  set(list)
  foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
    file(RELATIVE_PATH file "${CMAKE_INSTALL_PREFIX}" "${file}")
    string(APPEND list "${file}\n")
  endforeach()
  file(WRITE "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/cupola/manifest" "${list}lib/cupola/manifest\n")
]])
add_custom_target(uninstall COMMAND ${CMAKE_SOURCE_DIR}/scripts/uninstall --list ${CMAKE_BINARY_DIR}/install_manifest.txt
  COMMENT "Removing what install_manifest.txt lists" VERBATIM)

# A Debian package. All of it lies in a folder of its own, because NVIDIA's and Debian's packages own /usr/lib/*/libcuda.so.1,
# libcudart and /usr/include/cuda*, and because programs for a real GPU must not find Cupola's libcuda unasked. Two links in
# /usr/bin lead there.
set(CPACK_PACKAGE_NAME cupola)
set(CPACK_PACKAGE_VENDOR Cupola)
set(CPACK_PACKAGE_CONTACT "The Cupola developers <cupola@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Runs CUDA programs on the CPU")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr/lib/cupola)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package_links.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "clang-22, libc6-dev, libstdc++-12-dev | libstdc++-dev")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
