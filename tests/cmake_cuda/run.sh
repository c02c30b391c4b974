#!/bin/sh
# run.sh CUPOLA FOLDER: configures, builds and runs the project beside this script in FOLDER with the cupolac of CUPOLA, a
# build tree or a prefix. CMAKE_GENERATOR and CMAKE_ARGS (more words for the first cmake) may be set.
set -e
source=$(dirname "$(readlink -f "$0")")
# Nothing of the caller's may help a program to find its libraries.
unset LIBRARY_PATH LD_LIBRARY_PATH CUPOLA_LIBRARY_PATH CUDA_PATH CUDACXX CUDAFLAGS
rm -rf "$2"
cmake -S "$source" -B "$2" -DCMAKE_CUDA_COMPILER="$1/bin/cupolac" $CMAKE_ARGS
cmake --build "$2" --parallel 2
cd "$2"
ctest --output-on-failure --no-tests=error
