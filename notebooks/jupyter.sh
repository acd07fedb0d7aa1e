#!/bin/sh
# Installs and runs Jupyter with the kernels GoNB and Go (Helmholtz), all inside this project:
#
#   notebooks/jupyter.sh install                 install what is missing
#   notebooks/jupyter.sh tools                   install only Jupyter and Go's tools
#   notebooks/jupyter.sh library                 install only the rest, which this project contains
#   notebooks/jupyter.sh execute NOTEBOOK [-p NAME VALUE]...
#                                                run a notebook from top to bottom
#   notebooks/jupyter.sh lab [OPTION]...         open JupyterLab
#   notebooks/jupyter.sh browser                 install Playwright, which drives JupyterLab in Chromium for tests
#   notebooks/jupyter.sh clients                 install other clients of Jupyter, and try the kernel in each
#
# build/bin holds helmholtz, gonb, goimports and gopls; build/jupyter holds the registered kernels, build/venv
# Jupyter if the machine has none, build/playwright Playwright, build/clients the other clients, and build/notebooks
# the output of execute.
# Each command installs what is missing; after that, no command needs a network.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
bin=$root/build/bin
venv=$root/build/venv
pins=$root/notebooks/requirements.txt
log=$root/build/install.log

# GoNB finds Go's tools on the PATH, and Jupyter finds its kernels in JUPYTER_DATA_DIR.
PATH=$bin:$venv/bin:$PATH
JUPYTER_DATA_DIR=$root/build/jupyter
export PATH JUPYTER_DATA_DIR

# fail WHAT REMEDY...
fail() {
	printf 'jupyter.sh: '
	printf '%s\n' "$@"
	exit 1
} >&2

check_go() {
	remedy="Install Go $(sed -n 's/^go //p' "$root/go.mod") or later: https://go.dev/doc/install"
	command -v go >/dev/null || fail "Go is missing." "$remedy"
	complaint=$(cd "$root" && go list -m 2>&1) ||
		fail "This Go cannot build the project: $complaint" "$remedy"
}

# Cells import this project through a go.work file, which GOWORK and -mod would override, also if
# go env -w has set them. gopls takes GOWORK=auto for a path, so it is set only if it is needed.
clear_go_environment() {
	unset GOWORK
	[ -z "$(cd / && go env GOWORK)" ] || export GOWORK=auto
	case $(go env GOFLAGS) in
	*-mod=*)
		GOFLAGS=$(go env GOFLAGS | sed 's/-mod=[a-z]*/-mod=readonly/')
		export GOFLAGS
		;;
	esac
}

# build COMMAND... runs a go command in the project, whose programs go to build/bin.
build() {
	(cd "$root" && logged env GOBIN="$bin" go "$@") ||
		fail "Go could not build its tools and the library; the lines above say why." \
			"The first time this needs a network, to download the modules of go.mod."
}

# step TEXT COMMAND... prints what is being done, every 15 seconds how far it is, and then how long it took.
step() {
	printf '%s ...' "$1"
	shift
	began=$(date +%s)
	mkdir -p "$root/build"
	: >"$log"
	while sleep 15 >/dev/null 2>&1 && kill -0 $$; do
		said=$(tail -n 1 "$log" | cut -c 1-100)
		printf '\n    %d s: %s ...' $(($(date +%s) - began)) "${said:-still working}"
	done &
	ticker=$!
	trap 'kill $ticker' EXIT
	"$@"
	kill $ticker
	trap - EXIT
	echo " $(($(date +%s) - began)) s"
}

# logged COMMAND... runs a command whose output goes to the log, from which step tells how far it is.
logged() {
	"$@" >"$log" 2>&1 || {
		cat "$log" >&2
		return 1
	}
}

build_tools() {
	build install -v golang.org/x/tools/cmd/goimports golang.org/x/tools/gopls
	stamp=$(cat "$root/go.mod" "$root/notebooks/jupyter.sh" | cksum)
	if [ ! -x "$bin/gonb" ] || [ "$(cat "$bin/.gonb" 2>/dev/null)" != "$stamp" ]; then
		build_gonb
		echo "$stamp" >"$bin/.gonb"
	fi
}

# build_gonb builds GoNB from a copy without some of its faults. The copy connects to its language server half a
# second after starting it, and not after 12 seconds, for which the first completion would wait. Methods with value
# receivers of generic types keep apart, %rm removes a type with its methods, and a line such as packages := 3 is
# not taken for a package clause.
build_gonb() {
	gonb=github.com/janpfeifer/gonb
	build mod download $gonb
	rm -rf "$root/build/gonb"
	cp -r "$(cd "$root" && go list -m -f '{{.Dir}}' $gonb)" "$root/build/gonb"
	chmod -R u+w "$root/build/gonb"
	mend internal/goexec/goplsclient/conn.go 's/\(ConnectTimeout *= \)12000 /\1500 /'
	mend internal/goexec/parser.go 's/typeName := "unknown"/typeName := pi.extractContentOfNode(funcDecl.Recv.List[0].Type)/'
	mend internal/goexec/composer.go 's/strings.HasPrefix(line, "package")/strings.HasPrefix(line, "package ")/'
	mend internal/specialcmd/definitions.go 's/^\(.*\)removeDefinitionImpl(msg, "type", .*/&\
		for name := range goExec.Definitions.Functions {\
			if strings.HasPrefix(name, key+"~") || strings.HasPrefix(name, key+"[") {\
				removeDefinitionImpl(msg, "func", \&goExec.Definitions.Functions, name)\
			}\
		}/'
	cp "$root/go.sum" "$root/build/gonb.sum"
	{
		cat "$root/go.mod"
		echo "replace $gonb => ./build/gonb"
	} >"$root/build/gonb.mod"
	build install -v -modfile=build/gonb.mod $gonb
	rm -rf "$root/build/gonb" "$root/build/gonb.mod" "$root/build/gonb.sum"
}

# mend FILE EXPRESSION changes a file of the copy of GoNB with sed.
mend() {
	sed "$2" "$root/build/gonb/$1" >"$root/build/gonb/new"
	cmp -s "$root/build/gonb/$1" "$root/build/gonb/new" && fail "This version of GoNB has another $1: adapt build_gonb."
	mv "$root/build/gonb/new" "$root/build/gonb/$1"
}

install_tools() {
	step "Go tools: gonb, goimports and gopls at the versions of go.mod, in build/bin" build_tools
}

compile() {
	build install -v ./cmd/helmholtz
	build build -v ./... # what cells import, so that the first cell is quick
}

build_library() {
	step "The library, and helmholtz in build/bin; the first time takes a minute or two" compile
}

# has_jupyter PYTHON tells whether an interpreter has JupyterLab and a client
# recent enough for execute.py.
has_jupyter() {
	"$1" -c 'import jupyterlab, nbconvert, nbclient; nbclient.NotebookClient.on_cell_executed' >/dev/null 2>&1
}

# find_jupyter sets python to the interpreter whose Jupyter is used: the project's own if it is
# installed, else the interpreter of python3 or of the command jupyter.
find_jupyter() {
	python=$venv/bin/python
	cmp -s "$pins" "$venv/requirements.txt" 2>/dev/null && has_jupyter "$python" && return
	python=python3
	has_jupyter "$python" && return
	python=$(sed -n '1s/^#! *\(.*python\)/\1/p' "$(command -v jupyter || echo /dev/null)")
	[ -n "$python" ] && has_jupyter "$python"
}

# The pins are copied last, so that an interrupted installation, or one with other pins, is
# repeated.
install_jupyter() {
	if find_jupyter; then
		echo "Jupyter: of $("$python" -c 'import sys; print(sys.prefix)')"
		return
	fi
	command -v python3 >/dev/null ||
		fail "Python 3 is missing. On Debian or Ubuntu type:" "    ${sudo}apt-get install python3 python3-venv"
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
		fail "$(python3 --version) is too old for Jupyter: install Python 3.10 or later."
	python3 -c 'import venv, ensurepip' 2>/dev/null ||
		fail "Python's venv module is missing. On Debian or Ubuntu type:" "    ${sudo}apt-get install python3-venv"
	[ ! -L "$venv" ] ||
		fail "build/venv is a symbolic link: installing Jupyter there would empty the folder that it leads to." \
			"Remove the link, and run this again: rm build/venv"
	step "Jupyter: installing it in build/venv (320 MB); this takes a minute or two" make_venv
	python=$venv/bin/python
}

make_venv() {
	python3 -m venv --clear "$venv" &&
		logged "$venv/bin/python" -m pip install --progress-bar off --disable-pip-version-check --requirement "$pins" &&
		install_translator "$venv/bin/python" &&
		cp "$pins" "$venv/requirements.txt" ||
		fail "Installing Jupyter failed; the lines above say why." \
			"The first time this needs a network, to download the packages of notebooks/requirements.txt."
}

# set_up_lab configures the project's own Jupyter; any other Jupyter keeps its settings. JupyterLab then waits
# longer than a second for completions of Go, the first of which come while gopls loads, renders Markdown
# files, does not ask whether it may fetch news, and lists only notebooks and pages, without the scripts and packages next to them. It serves the
# output of make site; HELMHOLTZ_SITE_SERVED tells %hm docs so. Its terminals are not login shells, which
# would lose the PATH to helmholtz and to Python's packages.
set_up_lab() {
	[ "$python" = "$venv/bin/python" ] || return 0
	export HELMHOLTZ_SITE_SERVED=1
	settings=$venv/share/jupyter/lab/settings
	mkdir -p "$settings" "$venv/etc/jupyter"
	cat >"$settings/overrides.json" <<-END
		{
			"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false},
			"@jupyterlab/completer-extension:manager": {"providerTimeout": 15000},
			"@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}}
		}
	END
	cat >"$venv/etc/jupyter/jupyter_server_config.json" <<-END
		{"ServerApp": {"terminado_settings": {"shell_command": ["bash"]}, "extra_static_paths": ["$root/build/site/html"]},
		"ContentsManager": {"hide_globs": ["__pycache__", "*~", "*.go", "*.py", "*.sh", "requirements.txt", "cell", "check",
			"experiments", "images", "mixture", "reproduce", "results", "sweeps", "thesis"]}}
	END
}

register_kernels() {
	step "Kernels: gonb and helmholtz, in build/jupyter" register
}

register() {
	messages=$("$bin/gonb" --install -go_work="$root" 2>&1) ||
		fail "Registering the GoNB kernel failed: $messages"
	messages=$("$bin/helmholtz" kernel install --module "$root" 2>&1) ||
		fail "Registering the kernel Go (Helmholtz) failed: $messages"
	messages=$("$bin/helmholtz" kernel fetch --module "$root" 2>&1) ||
		fail "$messages"
}

install_playwright() {
	command -v chromium >/dev/null ||
		fail "Chromium is missing. On Debian type:" "    ${sudo}apt-get install chromium"
	pins=$root/kernelext/kernel/testdata/playwright.txt
	cmp -s "$pins" "$root/build/playwright/requirements.txt" && return
	python3 -m venv --clear "$root/build/playwright" &&
		"$root/build/playwright/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$pins" &&
		cp "$pins" "$root/build/playwright/requirements.txt" ||
		fail "Installing Playwright failed; the lines above say why."
}

# install_translator PYTHON installs papermill's translator for Go from a copy, beside which pip puts its files.
install_translator() {
	rm -rf "$root/build/translator" && cp -r "$root/clients" "$root/build/translator" &&
		"$1" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$root/build/translator"
}

# make_client_venv FOLDER PINS
make_client_venv() {
	cmp -s "$root/clients/$2" "$1/$2" && return
	python3 -m venv --clear "$1" &&
		"$1/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$root/clients/$2" &&
		cp "$root/clients/$2" "$1" ||
		fail "Installing the clients failed; the lines above say why."
}

try_clients() {
	clients=$root/build/clients
	make_client_venv "$clients" requirements.txt
	make_client_venv "$root/build/nbgrader" nbgrader.txt
	install_translator "$clients/bin/python"
	(cd "$root/clients" && "$clients/bin/python" -m unittest -q test_papermill)
	HELMHOLTZ_PRETRAINED=$root/pretrained "$clients/bin/python" "$root/clients/check.py" "$clients/work"
	"$root/build/nbgrader/bin/python" "$root/clients/check_nbgrader.py" "$root/build/nbgrader/course"
}

tools() {
	sudo=
	[ "$(id -u)" = 0 ] || sudo="sudo "
	check_go
	install_jupyter
	set_up_lab
	clear_go_environment
	install_tools
}

library() {
	check_go
	clear_go_environment
	build_library
	register_kernels
}

install() {
	tools
	library
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
install | tools | library)
	"$command"
	;;
browser)
	install
	install_playwright
	;;
clients)
	install
	try_clients
	;;
execute)
	install
	"$python" "$root/notebooks/execute.py" --output "$root/build/notebooks" "$@"
	;;
lab)
	case "$(id -u) $*" in
	0\ *--allow-root*) ;;
	0\ *) fail "Jupyter does not run as root unless it is told to. Type:" "    make lab LABFLAGS=--allow-root" ;;
	esac
	install
	mkdir -p "$root/notebooks/own" # for the user's own notebooks, which git ignores
	exec "$python" -m jupyterlab --notebook-dir="$root/notebooks" --LabApp.default_url=/lab/tree/GUIDE.md "$@"
	;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
