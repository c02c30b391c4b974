#!/bin/sh
# run.sh CUPOLA FOLDER: runs the Makefile in FOLDER with the tools of CUPOLA, a build tree or a prefix.
set -e
here=$(dirname "$(readlink -f "$0")")
unset LIBRARY_PATH LD_LIBRARY_PATH CUPOLA_LIBRARY_PATH
rm -rf "$2"
mkdir -p "$2"
cd "$2"
make -j2 -f "$here/Makefile" SOURCES="$here/../cmake_cuda" NVCC="$1/lib/cupola/toolkit/bin/nvcc" CUDA_PATH="$1/lib/cupola/toolkit" check
rule=$(tr -d '\\\n' < separable.d)  # long paths are given lines of their own
echo "$rule" | grep -q 'separable.o:.*separable.cu.*device_functions.cuh'
