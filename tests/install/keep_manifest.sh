# Sourced with $build and $folder set: `cmake --install` and CPack overwrite the build tree's install_manifest.txt, by which the
# target `uninstall` knows the user's own installation. It is put back when the script ends, however that is.
manifest=$build/install_manifest.txt
kept=$folder/kept_manifest
put_back() {
  if [ -e "$kept" ]; then mv "$kept" "$manifest"; else rm -f "$manifest"; fi
}
if [ -e "$manifest" ]; then cp -p "$manifest" "$kept"; fi
trap put_back EXIT
trap 'exit 1' HUP INT TERM
