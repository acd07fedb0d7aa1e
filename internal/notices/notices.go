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

Helmholtz is under the licence in LICENSE. Anyone who distributes a program built from it
also distributes the modules below, which are under their own licences, and must distribute
this file with it. "make notices" writes this file from go.mod and the sources of the
modules; a test fails if the file is out of date.

This file omits everything that is not distributed with the program: code that only
tests and checks use; CUDA's headers and compilers, which gpu/toolchain fetches for building
(the program finds the driver when it runs, and the PTX in gpu/kernels is compiled from the
kernel next to it); Jupyter and the packages of notebooks/requirements.txt.

An image built by the Dockerfile contains all of these except CUDA's: Debian's packages
with their licences in /usr/share/doc, Go in /usr/local/go, Python's packages in build/venv,
each with its licence in its .dist-info, and the sources of all modules in the home
directory. In addition to the program it contains gonb, goimports and gopls.
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
