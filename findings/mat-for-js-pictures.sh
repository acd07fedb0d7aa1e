#!/usr/bin/env bash
# mat-for-js 1.1.0: arrays of three dimensions, such as pictures, are read with their values in the wrong places.
# Matrices are right.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
python3 -m venv v
v/bin/pip install -q scipy==1.17.1 numpy==2.4.6
npm install --silent --no-fund --no-audit mat-for-js@1.1.0
v/bin/python -c '
import numpy, scipy.io
scipy.io.savemat("x.mat", {"pictures": numpy.arange(24.0).reshape(2, 3, 4), "matrix": numpy.arange(6.0).reshape(2, 3)})'
cat > read.mjs <<'JS'
import { readFileSync } from "fs";
import { read } from "mat-for-js";

const file = readFileSync("x.mat");
const { pictures, matrix } = read(file.buffer.slice(file.byteOffset, file.byteOffset + file.length)).data;
console.log("matrix, of the numbers 0 to 5:", JSON.stringify(matrix));
console.log("two pictures of 3 by 4, of the numbers 0 to 23:", JSON.stringify(pictures));
const distinct = new Set(pictures.flat(2)).size;
console.log(`${distinct} distinct numbers of 24`);
if (JSON.stringify(matrix) !== "[[0,1,2],[3,4,5]]" || distinct === 24) {
  console.error("mat-for-js behaves otherwise now");
  process.exit(1);
}
JS
node read.mjs || exit 1
