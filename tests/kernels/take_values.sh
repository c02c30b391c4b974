#!/usr/bin/env bash
# Takes the values of the kernel tests on a GPU, for golden_h200. Run in the repository, with OUT an empty folder: OUT/values/NAME.tsv
# are the values, OUT/log/NAME.build and NAME.run say what did not build and which cases did not end, OUT/about.txt says where it was.
# COMPILE replaces the compiler and its flags, LIBRARIES what is linked, JOBS (16) how many builds and RUNS (6) how many programs run at a time.
# What goes from OUT/values into golden_h200: the files of programs that ran, each with a first line that says where (about.txt), without the rows
# of checks that are marked (check::Unrecorded). What the cases did goes into on_a_gpu.tsv.
set -uo pipefail
[ -n "${OUT:-}" ] || { echo "OUT is not set" >&2; exit 2; }
cd "$(git rev-parse --show-toplevel 2>/dev/null || pwd)/tests/kernels" || exit 2
export OUT=$(realpath "$OUT") BIN=$(mktemp -d)
mkdir -p "$OUT/values" "$OUT/log"
export COMPILE=${COMPILE:-nvcc -std=c++20 -O1 -rdc=true --extended-lambda -Xcompiler -mf16c -arch=native -I. -I..} LIBRARIES=${LIBRARIES--lcudadevrt -lcuda}
{ date -u; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nvcc --version | tail -n 2; g++ --version | head -n 1; echo "$COMPILE ... $LIBRARIES"; } > "$OUT/about.txt" 2>&1

one() {  # build and run one program, each case in a process of its own, so that none takes the others with it
  local name=$1 case status
  timeout -k 5 400 $COMPILE "$name.cu" -o "$BIN/$name" $LIBRARIES > "$OUT/log/$name.build" 2>&1 || { echo "$name: not built"; return; }
  exec 9> "$BIN/run.$(( $2 % ${RUNS:-6} ))" && flock 9
  for case in $("$BIN/$name" --list); do
    CUPOLA_TEST_VALUES=$OUT/values/$name.tsv timeout -k 3 45 "$BIN/$name" "$case" >> "$OUT/log/$name.run" 2>&1
    status=$?
    [ $status -le 1 ] || echo "$name $case: ended with $status" | tee -a "$OUT/log/$name.run"
  done
  echo "$name: $(grep -c ': ok$' "$OUT/log/$name.run") cases pass, $(grep -c ': FAILED$' "$OUT/log/$name.run") fail"
}
export -f one
# The longest builds first.
i=0
for name in $(wc -c -- *.cu | sort -rn | sed -n 's/^.* \(.*\)\.cu$/\1/p'); do echo "$name $((i++))"; done |
  xargs -P "${JOBS:-16}" -L 1 bash -c 'one "$0" "$1"'
find "$OUT/log" -empty -delete
du -sh "$OUT/values"
