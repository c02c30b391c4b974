#!/bin/sh
# package.sh BUILD FOLDER: makes the Debian package, looks at what is in it, and uses it in a root of its own.
set -eu
build=$1 folder=$2
here=$(dirname "$(readlink -f "$0")")
unset LIBRARY_PATH LD_LIBRARY_PATH CUPOLA_LIBRARY_PATH || true
PATH=$PATH:/usr/sbin:/sbin  # dpkg asks for programs there
fail() {
  echo "package test: $1" >&2
  exit 1
}
rm -rf "$folder"
mkdir -p "$folder"
. "$here/keep_manifest.sh"
cd "$folder"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$folder/packing" > cpack.log 2>&1 || { cat cpack.log; fail "cpack failed"; }
package=$(ls packing/*.deb)
dpkg-deb --contents "$package" > contents
# All files lie in /usr/lib/cupola, so that no other package can own one of them.
strays=$(awk '$1 !~ /^d/ {print $6}' contents | grep -v -e '^\./usr/lib/cupola/' -e '^\./usr/bin/cupola$' -e '^\./usr/bin/cupolac$' || true)
[ -z "$strays" ] || fail "outside /usr/lib/cupola: $strays"
for file in bin/cupolac lib/libcuda.so.1 lib/libnvidia-ml.so.1 lib/cupola/device.bc lib/cupola/metal.bc lib/cupola/air.bc include/cuda/cuda.h lib/cupola/toolkit/nvvm/libdevice/; do
  grep -q " ./usr/lib/cupola/$file\( \|$\)" contents || fail "$file is not in the package"
done
dpkg-deb --field "$package" Depends | tee depends
grep -q clang-22 depends && grep -q libllvm22 depends || fail "the package does not say that it needs clang and LLVM"
dpkg-deb -x "$package" root
if grep -rlF "$build/" root; then fail "these files lead back to the build tree"; fi
root/usr/bin/cupolac -std=c++17 -DSTANDARD=201703L "$here/../cmake_cuda/whole.cu" -o whole
./whole || fail "a program of the unpacked cupolac fails"
# dpkg itself, as far as it can go without the system: in a root with a data base of its own.
mkdir -p admin/var/lib/dpkg/updates admin/var/lib/dpkg/info
touch admin/var/lib/dpkg/status
if [ "$(id -u)" = 0 ]; then
  dpkg --root="$folder/admin" --log=/dev/null --force-depends --force-not-root -i "$package" > dpkg.log 2>&1 || { cat dpkg.log; fail "dpkg -i"; }
  [ -e admin/usr/bin/cupolac ] || fail "dpkg installed no cupolac"
  dpkg --root="$folder/admin" --log=/dev/null --force-not-root -P cupola > dpkg.log 2>&1 || { cat dpkg.log; fail "dpkg -P"; }
  [ -z "$(find admin/usr -type f -o -type l 2> /dev/null)" ] || fail "left by dpkg: $(find admin/usr)"
else
  echo "package test: skipped: dpkg -i and -P, which need root"
fi
echo "package test: ok"
