#!/usr/bin/env bash
# Counts the instructions of a training step, and of a sample of an evaluation, on an emulated arm64 processor, with each
# set of kernels. Needs gcc and qemu-user 7.2, which Debian 12 has.
set -euo pipefail
cd "$(dirname "$0")/../../.."
mkdir -p build/arm
gcc -shared -fPIC -O2 -o build/arm/count.so internal/kernels/counts/count.c
go build -o build/arm/here ./cmd/helmholtz
GOOS=linux GOARCH=arm64 go build -o build/arm/there ./cmd/helmholtz
export GOMAXPROCS=1 GOGC=off

# count SET ARGUMENTS... prints the instructions of a command.
count() {
	HELMHOLTZ_CPU=$1 qemu-aarch64 -plugin build/arm/count.so build/arm/there "${@:2}" 2>&1 | sed -n 's/instructions: //p'
}

# each WHAT FEW MANY ARGUMENTS... prints the instructions for each of MANY less FEW, which follow the arguments.
each() {
	for set in portable neon; do
		printf '%-32s %-8s %6.1f million instructions\n' "$1" $set \
			"$(awk "BEGIN { print ($(count $set "${@:4}" "$3") - $(count $set "${@:4}" "$2")) / ($3 - $2) / 1e6 }")"
	done
}

for flags in '--algorithm rws --layers 50,20' '--algorithm nrws --layers 50,20' '--algorithm bihm --layers 50,20' '--algorithm pcd --layers 50'; do
	# shellcheck disable=SC2086
	each "a step, $flags" 5 25 bench train --dataset glyphs --subset 100 $flags --steps
done
rm -rf build/arm/run
build/arm/here train --dataset glyphs --subset 100 --validation 20 --algorithm rws --layers 50,20 --epochs 1 --out build/arm/run >/dev/null 2>&1
each 'a sample of each of 20 rows' 100 300 eval build/arm/run --split validation --log-z2 0 --samples
