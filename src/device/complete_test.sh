#!/bin/sh
# complete_test.sh clang llvm-nm device.bc: device.bc defines every __nv_* function that clang's header declares, and leaves
# undefined only functions of the C library and kir's intrinsics (oracle: the header; the two tables).
set -eu
resources=$("$1" -print-resource-dir)
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -o '__nv_[a-z0-9_]*' "$resources/include/__clang_cuda_libdevice_declares.h" | sort -u >"$work/declared"
"$2" --defined-only "$3" | awk '$2 == "T" { print $3 }' | sort >"$work/defined"
test -s "$work/declared"
missing=$(comm -23 "$work/declared" "$work/defined")
"$2" --undefined-only "$3" | awk '{ print $NF }' | sort -u >"$work/undefined"
{
  sed -n 's/^CUPOLA_LIBRARY_CALL(\(.*\))$/\1/p' "$root/src/image/library_calls.def"
  sed -n 's/^KIR_INTRINSIC([^,]*, "\([^"]*\)".*/\1/p' "$root/src/kir/intrinsics.def"
} | sort >"$work/library"
unknown=$(comm -23 "$work/undefined" "$work/library")
[ -z "$missing" ] || echo "not defined: $missing"
[ -z "$unknown" ] || echo "neither defined nor in library_calls.def or intrinsics.def: $unknown"
[ -z "$missing$unknown" ]
