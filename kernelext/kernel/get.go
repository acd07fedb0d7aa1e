//go:build unix

package kernel

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/shell"
)

// frugal is the go command of a kernel. GoNB runs go get before each cell and each completion,
// which takes a fifth of a second; while cells import, and the modules in use require, what
// they did when it last went well, there is nothing to get.
const frugal = `#!/bin/sh
wanted() {
	sed -n '/^import (/,/^)/p; /^import "/p' *.go
	cat go.mod go.sum go.work
	sed -n 's/^\(use\)\{0,1\}[[:space:]]\{1,\}\([^()]*\)$/\2/p' go.work | while read -r used; do cat "$used/go.mod"; done
} 2>/dev/null
case "$*:$PWD" in
get:CELLS/gonb_*)
	wanted | cmp -s - GOT && exit
	GO get || exit
	wanted >GOT
	exit 0
	;;
esac
exec GO "$@"
`

// frugalGo writes the go command of a kernel into a folder, for cells whose programs are
// in folders of temporary, and returns its path.
func frugalGo(dir, temporary, path string) (string, error) {
	dir = filepath.Join(dir, "go")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	script := strings.NewReplacer("CELLS", shell.Word(temporary), "GOT", shell.Word(filepath.Join(dir, "got")), "GO", shell.Word(path)).Replace(frugal)
	at := filepath.Join(dir, "go")
	return at, os.WriteFile(at, []byte(script), 0o700)
}
