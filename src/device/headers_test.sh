#!/bin/sh
# headers_test.sh clang include-folder program.cu: compiles the program for device and host in each C++ version.
set -eu
common="-x cuda --cuda-gpu-arch=sm_89 --cuda-path=/nonexistent -nocudainc -nocudalib -fdeclspec -Xclang -target-sdk-version=12.9
  -isystem $2 -include cuda_runtime.h -Wall -Wextra -Werror -Wno-unused-command-line-argument"
for version in c++14 c++17 c++20 c++23; do
  "$1" $common -std=$version --cuda-device-only --cuda-feature=+ptx87 -Xclang -disable-llvm-passes -emit-llvm -c -o /dev/null "$3"
  "$1" $common -std=$version --cuda-host-only -fsyntax-only "$3"
done
