#!/bin/sh
# The entry point of the image: fills the home directory, which may be an empty volume, without
# overwriting its files, and runs the given command.
set -eu

# Go removes old entries from its cache: copies are new, however old the image is.
mkdir -p "$HOME/.cache/go-build"
cp -rn /opt/go/cache/. "$HOME/.cache/go-build"
if [ -e "$HOME/notebooks" ]; then
	cp -rn "$PROJECT/notebooks" "$HOME"
else # a start that is cut short must not leave truncated notebooks
	rm -rf "$HOME/.notebooks.part"
	cp -r "$PROJECT/notebooks" "$HOME/.notebooks.part"
	mv "$HOME/.notebooks.part" "$HOME/notebooks"
fi

if [ ! -w "${TMPDIR:-/tmp}" ]; then
	TMPDIR=$HOME/.cache/tmp
	mkdir -p "$TMPDIR"
	export TMPDIR
fi
if [ -e "$PROJECT/build/cuda/environment" ]; then
	. "$PROJECT/build/cuda/environment"
fi
exec "$@"
