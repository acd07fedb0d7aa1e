#!/usr/bin/env bash
# Counts the instructions of a training step on an emulated arm64 processor, with each set of kernels.
# Needs gcc and qemu-user 7.2, which Debian 12 has.
set -euo pipefail
cd "$(dirname "$0")/../../.."
mkdir -p build/arm
gcc -shared -fPIC -O2 -o build/arm/count.so internal/kernels/counts/count.c
GOOS=linux GOARCH=arm64 go build -o build/arm/there ./cmd/helmholtz
export GOMAXPROCS=1 GOGC=off

# count SET STEPS FLAGS... prints the instructions of a program that takes some steps.
count() {
	local set=$1 steps=$2
	shift 2
	HELMHOLTZ_CPU=$set qemu-aarch64 -plugin build/arm/count.so build/arm/there bench train \
		--dataset glyphs --subset 100 --steps "$steps" "$@" 2>&1 | sed -n 's/instructions: //p'
}

for flags in '--algorithm rws --layers 50,20' '--algorithm nrws --layers 50,20' '--algorithm bihm --layers 50,20' '--algorithm pcd --layers 50'; do
	for set in portable neon; do
		# shellcheck disable=SC2086
		printf '%-32s %-8s %6.1f million instructions a step\n' "$flags" $set \
			"$(awk "BEGIN { print ($(count $set 25 $flags) - $(count $set 5 $flags)) / 20 / 1e6 }")"
	done
done
