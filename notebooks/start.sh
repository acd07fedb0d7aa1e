#!/bin/sh
# The entry point of the image: fills the home directory, which may be an empty volume, without
# overwriting its files, and runs the given command.
set -eu

# Go removes old entries from its cache: copies are new, however old the image is.
mkdir -p "$HOME/.cache/go-build"
cp -rn /opt/go/cache/. "$HOME/.cache/go-build"
cp -rn "$PROJECT/notebooks" "$HOME"

if [ ! -w "${TMPDIR:-/tmp}" ]; then
	TMPDIR=$HOME/.cache/tmp
	mkdir -p "$TMPDIR"
	export TMPDIR
fi
if [ -e "$PROJECT/build/cuda/environment" ]; then
	. "$PROJECT/build/cuda/environment"
fi
exec "$@"
