#!/bin/sh
# headers_refused_test.sh clang include-folder program.cu: the program does not compile, and clang says what its first
# line announces after "error: ".
set -eu
expected=$(sed -n '1s,^// error: ,,p' "$3")
test -n "$expected"
if said=$("$1" -x cuda --cuda-gpu-arch=sm_89 --cuda-path=/nonexistent -nocudainc -nocudalib -fdeclspec \
    -Xclang -target-sdk-version=12.9 --cuda-feature=+ptx87 -isystem "$2" -include cuda_runtime.h -std=c++17 \
    --cuda-device-only -fsyntax-only "$3" 2>&1); then
  echo "$3 compiles"
  exit 1
fi
case "$said" in
  *"$expected"*) ;;
  *) echo "$said"; exit 1 ;;
esac
