package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

const preamble = `Notices of third parties

Helmholtz is under the licence in LICENSE. Whoever passes on what is built of it passes
on the modules below, too, under their own licences, and has to pass on this file with
it: "make notices" writes it from go.mod and the sources of the modules, and a test fails
where it is not up to date.

Not in this file, since nothing of it is passed on with the program: what tests and
checks alone use; CUDA's headers and compilers, which gpu/toolchain fetches to build
with (the driver is found when the program runs, and the PTX in gpu/kernels is compiled
of the kernel beside it); Jupyter and the packages of notebooks/requirements.txt.

An image that is built by the Dockerfile has all of these but CUDA's in it: Debian's
packages with their licences in /usr/share/doc, Go in /usr/local/go, Python's packages in
build/venv, each with its licence in its .dist-info, and the sources of all modules, in
the home directory. Beside the program it has gonb, goimports and gopls.
`

// notices returns the text of NOTICES: the linked modules, the modules that only the tools have,
// and the text of every licence, once.
func notices(linked, tools []module) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(preamble)
	texts := map[string][]string{} // the files with each text
	section := func(title string, modules []module) error {
		fmt.Fprintf(&b, "\n%s\n\n", title)
		table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, m := range modules {
			if m.Path == own {
				continue
			}
			names, err := m.names()
			if err != nil {
				return err
			}
			fmt.Fprintf(table, "  %s\t%s\n", m, strings.Join(names, ", "))
			for _, l := range m.Licenses {
				text := strings.TrimSpace(strings.ReplaceAll(l.Text, "\r\n", "\n"))
				texts[text] = append(texts[text], fmt.Sprintf("%s, %s", m, l.File))
			}
		}
		return table.Flush()
	}
	if err := section("In the program helmholtz, and in programs and cells that import its packages:", linked); err != nil {
		return nil, err
	}
	only := slices.DeleteFunc(slices.Clone(tools), func(m module) bool {
		return slices.ContainsFunc(linked, func(l module) bool { return l.Path == m.Path })
	})
	if err := section("In gonb, goimports and gopls alone:", only); err != nil {
		return nil, err
	}
	// Sort a text by the first module that it applies to.
	first := func(text string) string { return texts[text][0] }
	for _, text := range slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return strings.Compare(first(a), first(b)) }) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), strings.Join(texts[text], "\n"), text)
	}
	return b.Bytes(), nil
}

// own is the path of this module.
const own = "github.com/helmholtz-go/helmholtz"

func (m module) String() string {
	if m.Path == standard {
		return "Go's standard library"
	}
	return m.Path + " " + m.Version
}
