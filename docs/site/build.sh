#!/usr/bin/env bash
# Builds the site of all pages, notebooks and package documentation in build/site/html, and checks its
# links. It needs Go, Python 3, npm and, the first time, a network.
set -euo pipefail
cd "$(dirname "$0")/../.."
site=docs/site
out=build/site
venv=$out/venv
source=$out/source
mkdir -p "$out"
echo "module site" >"$out/go.mod" # so that ./... skips the copied files

step() { echo "site: $1" >&2; }

if ! cmp -s "$site/requirements.txt" "$venv/installed"; then
	step "installing Sphinx"
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --require-hashes -r "$site/requirements.txt"
	cp "$site/requirements.txt" "$venv/installed"
fi
if [ ! -d "$out/mathjax" ]; then
	step "installing MathJax"
	cp "$site/package.json" "$site/package-lock.json" "$out"
	npm ci --silent --prefix "$out"
	cp -r "$out/node_modules/mathjax/es5" "$out/mathjax"
fi

step "copying pages and notebooks"
rm -rf "$source" "$out/html"
mkdir -p "$source/_static" "$source/api"
git ls-files -z -- '*.md' '*.ipynb' '*.png' '*.svg' '*.toml' '*.csv' '*.py' '*.sh' 'notebooks/mixture/*.go' 'cmd/live/*.go' LICENSE NOTICES Dockerfile |
	grep -zv '/testdata/' | xargs -0 cp --parents -t "$source"
git ls-files -z -- 'plotting/testdata/*.png' '*example_test.go' | xargs -0 cp --parents -t "$source" # for the gallery and docs/own.md
python3 notebooks/course.py site "$source/notebooks/course"
cp "$site/conf.py" "$site/_toc.yml" "$site/start.md" "$source"
cp "$site/site.css" "$source/_static"
sed -i '/badge_logo/d' "$source/README.md" # an image from another host
ln -s "$PWD/$out/mathjax" "$source/_static/mathjax"

# The live page: its program in WebAssembly, and its machine.
step "compiling the live page"
live=$source/_static/live
mkdir "$live"
cp "$site"/live/* "$(go env GOROOT)/lib/wasm/wasm_exec.js" "$live"
GOOS=js GOARCH=wasm go build -tags purego -trimpath -ldflags='-s -w' -o "$out/live.wasm" ./cmd/live
gzip -9 -n -c "$out/live.wasm" >"$live/live.wasm.gz"
if [ "$(wc -c <"$live/live.wasm.gz")" -gt 3500000 ]; then
	echo "site: the program of the live page is larger than 3.5 MB" >&2
	exit 1
fi
go run ./cmd/live | gzip -9 -n -c >"$live/model.safetensors.gz"

# One page per package, from its doc comments.
step "describing packages"
go -C "$site" build -o "$PWD/$out/gomarkdoc" github.com/princjef/gomarkdoc/cmd/gomarkdoc
sed -n 's/^ *title: \([a-z/]*\)$/\1/p' "$site/_toc.yml" | while read -r package; do
	page=$source/api/${package//\//-}.md
	"$out/gomarkdoc" --output "$page" "./$package"
	sed -i 's/^#* Output$/**Output**/' "$page" # a heading would end the folded example
done

step "making pages, which takes the longest"
"$venv/bin/sphinx-build" -q -W --keep-going -b html "$source" "$out/html"
mkdir -p "$out/html/pretrained/miniglyphs-bihm"
cp pretrained/miniglyphs-bihm/samples.png "$out/html/pretrained/miniglyphs-bihm"
cp "$out/html/start.html" "$out/html/index.html"
step "checking links"
"$venv/bin/python" "$site/links.py" "$out/html"
echo "The site is in $out/html: open $out/html/index.html."
