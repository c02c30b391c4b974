#!/bin/sh
# run.sh BUILD FOLDER: installs the build tree into a prefix in FOLDER, uses it, moves it, uses it again and uninstalls it.
# Whatever it says in between, it ends with an error unless all went well.
set -eu
build=$1 folder=$2
here=$(dirname "$(readlink -f "$0")")
unset LIBRARY_PATH LD_LIBRARY_PATH CUPOLA_LIBRARY_PATH || true
fail() {
  echo "install test: $1" >&2
  exit 1
}
rm -rf "$folder"
mkdir -p "$folder/programs"
. "$here/keep_manifest.sh"
prefix=$folder/prefix
cmake --install "$build" --prefix "$prefix" > "$folder/install.log"
for file in bin/cupolac bin/cupola lib/libcuda.so.1 lib/libcuda.so lib/libcudart.so.13 lib/libcudart.so \
  lib/libcudart_static.a lib/libcudadevrt.a lib/libcupola-pipeline.so include/cupola/pipeline.h lib/libcupola-compiler.so lib/cupola/device.bc lib/cupola/metal.bc lib/cupola/air.bc lib/cupola/selftest.fatbin \
  lib/libnvrtc.so.13 lib/libnvrtc.so lib/libcupola-frontend.so lib/cupola/clang/include/stddef.h include/cuda/nvrtc.h include/cuda/cuda_runtime.h \
  include/cuda/cupola/driver.def lib/libnvidia-ml.so.1 lib/libnvidia-ml.so include/cuda/nvml.h include/cuda/cupola/nvml.def lib/cupola/toolkit/bin/nvcc lib/cupola/toolkit/include/cuda.h \
  lib/cupola/toolkit/lib64/libcudart.so lib/cupola/toolkit/nvvm/libdevice lib/pkgconfig/cupola.pc; do
  [ -e "$prefix/$file" ] || fail "$file was not installed"
done
back=$(grep -raoh "$build/[[:print:]]*" "$prefix" | grep -vF "$prefix" || true)  # the prefix may lie in the build tree
[ -z "$back" ] || fail "an installed file leads back to the build tree: $back"

# A project finds all it needs.
"$here/../cmake_cuda/run.sh" "$prefix" "$folder/cmake_cuda"

# What pkg-config says suffices for the host's compiler.
command -v pkg-config > /dev/null || fail "there is no pkg-config: scripts/setup installs it"
words=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs cupola)
c++ "$here/../cmake_cuda/runtime.cpp" $words -o "$folder/programs/by_pkg_config"
"$folder/programs/by_pkg_config" || fail "the program built by pkg-config's words fails"

# Moved, it works on: nothing remembers where it was.
mv "$prefix" "$folder/moved"
for runtime in shared static; do
  "$folder/moved/bin/cupolac" -std=c++17 -DSTANDARD=201703L -cudart $runtime "$here/../cmake_cuda/whole.cu" -o "$folder/programs/$runtime"
  "$folder/programs/$runtime" || fail "the program with the $runtime runtime fails in a moved prefix"
done
"$folder/moved/bin/cupolac" "$here/nvrtc.cu" -lnvrtc -lcuda -o "$folder/programs/nvrtc"
"$folder/programs/nvrtc" || fail "NVRTC fails in a moved prefix: status $?"
"$folder/moved/bin/cupola" info | grep -q "compute capability" || fail "cupola info finds no device"

# Uninstalled, nothing is left but what somebody else put there.
touch "$folder/moved/lib/of_another"
"$folder/moved/lib/cupola/uninstall"
[ "$(cd "$folder/moved" && find . -type f -o -type l)" = ./lib/of_another ] || fail "left: $(find "$folder/moved")"
rm "$folder/moved/lib/of_another"
cmake --install "$build" --prefix "$folder/again" > "$folder/install.log"
"$here/../../scripts/uninstall" "$folder/again"
[ -z "$(find "$folder/again" -mindepth 1)" ] || fail "left: $(find "$folder/again")"
! "$here/../../scripts/uninstall" "$folder/again" 2> "$folder/message" || fail "uninstalls what is not there"
grep -q "nothing of Cupola is installed there" "$folder/message"

# The target removes the last installation, by the list that `cmake --install` left in the build tree.
cmake --install "$build" --prefix "$folder/last" > "$folder/install.log"
touch "$folder/last/lib/of_another"
cmake --build "$build" --target uninstall > "$folder/uninstall.log" 2>&1 || { cat "$folder/uninstall.log"; fail "the target uninstall"; }
[ "$(cd "$folder/last" && find . -type f -o -type l)" = ./lib/of_another ] || fail "left: $(find "$folder/last")"
echo "install test: ok"
