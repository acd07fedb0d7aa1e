#!/bin/sh
# Runs all fuzz targets of packages, by default of the module, each for a limited time and JOBS of
# them at once. It prints the last progress of each target, or its failure in full:
#
#	internal/fuzz/run.sh FUZZTIME JOBS PATTERN [PACKAGE]...
#
# A failing target does not prevent the others from running. Inputs that reach new code stay in
# Go's cache, and the next run continues with them.
set -eu
time=$1 jobs=$2 pattern=$3
shift 3
[ $# -gt 0 ] || set -- ./...
[ "$jobs" -gt 0 ] 2>/dev/null || { echo "fuzz: JOBS=$jobs: give a number from 1" >&2; exit 2; }
parallel=$((${GOMAXPROCS:-$(getconf _NPROCESSORS_ONLN)} / jobs))
[ "$parallel" -gt 0 ] || parallel=1
export time parallel

list=$(go test -list '^Fuzz' "$@") || { echo "$list"; exit 1; }
targets=$(echo "$list" | awk -v pattern="$pattern" '
	/^Fuzz/ && $1 ~ pattern { names[++n] = $1 }
	/^ok/ { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }')
[ -n "$targets" ] || { echo "fuzz: no fuzz target of $* is called \"$pattern\"" >&2; exit 1; }

# Minimising a new input would take up to a minute more.
# shellcheck disable=SC2016 # xargs expands the package and the target
echo "$targets" | xargs -P "$jobs" -L 1 sh -c '
	echo "$0 $1"
	if out=$(go test -run "^$" -fuzz "^$1\$" -fuzztime "$time" -fuzzminimizetime 200x -parallel "$parallel" "$0" 2>&1); then
		printf "%s %s %s\n" "$0" "$1" "$(echo "$out" | grep "^fuzz: elapsed" | tail -n 1)"
	else
		printf "\n%s %s FAILED\n%s\n\n" "$0" "$1" "$out"
		exit 1
	fi'
