# Run by cpack between the installation into its staging folder and the packing: links on the PATH. dpkg removes packages, so
# that the uninstaller is left out.
set(root ${CPACK_TEMPORARY_DIRECTORY})
file(REMOVE ${root}/usr/lib/cupola/lib/cupola/uninstall ${root}/usr/lib/cupola/lib/cupola/manifest)
file(MAKE_DIRECTORY ${root}/usr/bin)
foreach(program cupola cupolac)
  file(CREATE_LINK ../lib/cupola/bin/${program} ${root}/usr/bin/${program} SYMBOLIC)
endforeach()
