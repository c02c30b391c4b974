#!/usr/bin/env bash
# run_as_ptx.sh CUPOLA PROGRAM: runs a program whose fat binaries must all hold PTX, with that PTX instead of kir. The oracle
# is the program's own.
set -euo pipefail
"$1" fatbin "$2" | awk '/^fat binary/ { all++ } / ptx / { with++ } END { exit !(all && all == with) }' ||
  { echo "$2: a fat binary without PTX"; exit 1; }
CUPOLA_CODE=ptx exec "$2"
