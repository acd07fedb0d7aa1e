#!/bin/sh
# The entry point of the image: fills the home directory, which may be an empty
# volume, and starts what it is given. What is there already stays.
set -eu

# Go drops from its cache what is some days old: copies are new, however old the image.
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
