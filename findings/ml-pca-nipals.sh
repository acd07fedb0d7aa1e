#!/usr/bin/env bash
# ml-pca 4.1.1: with the method NIPALS, the variances of the components are sums of squares, too large by the number of
# rows less one, and the explained shares of however few components sum to 1. The other two methods are right.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
npm install --silent --no-fund --no-audit ml-pca@4.1.1
cat > pca.cjs <<'JS'
const { PCA } = require("ml-pca");
const rows = [[1, 2, 0], [2, 1, 1], [3, 4, 0], [9, 3, 2], [5, 5, 1], [0, 2, 3]];
const all = {};
for (const method of ["covarianceMatrix", "SVD", "NIPALS"]) {
  const pca = new PCA(rows, { method, nCompNIPALS: 2 });
  all[method] = { variances: pca.getEigenvalues(), shares: pca.getExplainedVariance() };
  const digits = (values) => values.map((v) => v.toFixed(4)).join(" ");
  console.log(`${method}: variances ${digits(all[method].variances)}, shares ${digits(all[method].shares)}`);
}
const ratio = all.NIPALS.variances[0] / all.SVD.variances[0];
const sum = all.NIPALS.shares[0] + all.NIPALS.shares[1];
console.log(`NIPALS over SVD: ${ratio.toFixed(6)}, with ${rows.length} rows; shares of 2 of 3 components sum to ${sum.toFixed(6)}`);
if (Math.abs(ratio - 5) > 1e-6 || Math.abs(sum - 1) > 1e-9) {
  console.error("ml-pca behaves otherwise now");
  process.exit(1);
}
JS
node pca.cjs || exit 1
