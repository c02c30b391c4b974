#!/bin/sh
# closed_test.sh llvm-nm libdevice.bc libdevice.def names.txt: the bitcode defines the functions of libdevice's published
# list (names.txt, without __nv_: "libdevice User's Guide", and __tanhf's since) and no other symbol, asks for nothing but
# __nvvm_reflect, and the table has a row for each.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sort "$4" >"$work/published"
"$1" --defined-only --extern-only "$2" | awk '{ print $NF }' | sed 's/^__nv_//' | sort >"$work/defined"
"$1" --undefined-only "$2" | awk '{ print $NF }' | sort >"$work/asked"
sed -n 's/^LIBDEVICE(\([^,]*\),.*/\1/p' "$3" | sort >"$work/rows"
echo __nvvm_reflect >"$work/allowed"
test -s "$work/published"
diff "$work/published" "$work/defined"
diff "$work/published" "$work/rows"
diff "$work/allowed" "$work/asked"
