package check

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"regexp"
	"slices"
	"strings"
)

// kernel is the name of the kernel Go (Helmholtz), whose %hm lines the quickstart teaches.
const kernel = "helmholtz"

// mostLines is the largest number of lines of a code cell that a reader can take in at once.
const mostLines = 30

var (
	cellID   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	home     = regexp.MustCompile(`(/home|/Users)/[\w.-]+|/root/|[A-Z]:\\Users\\`)
	imageTag = regexp.MustCompile(`<img[^>]*\ssrc=["']?([^"' >]+)`)
)

// Check returns nil for a notebook that is ready for readers. It must be valid nbformat 4 for the
// kernel. Its code cells must be short, and executed once, in order, without an error or output on
// stderr. It must show at least one figure, store all figures inside, and have no output that names
// a home directory or one of the given folders. Otherwise the error joins all problems found, with
// the numbers of the cells.
func (n *Notebook) Check(folders ...string) error {
	var found []error
	report := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }

	if n.Format != 4 {
		report("nbformat is %d: save it as nbformat 4", n.Format)
	}
	if name := n.Metadata.Kernel.Name; name != kernel {
		report("the kernel is %q: choose %s", name, kernel)
	}

	ids := map[string]bool{}
	executed, figures := 0, 0
	for i, cell := range n.Cells {
		inCell := func(format string, args ...any) { report("cell %d: %w", i+1, fmt.Errorf(format, args...)) }
		if n.Minor >= 5 && (!cellID.MatchString(cell.ID) || ids[cell.ID]) {
			inCell("the id %q is invalid or taken", cell.ID)
		}
		ids[cell.ID] = true

		switch cell.Type {
		case "markdown", "raw":
			continue
		case "code":
		default:
			inCell("the type %q is not markdown, raw or code", cell.Type)
			continue
		}

		if lines := 1 + strings.Count(string(cell.Source), "\n"); lines > mostLines {
			inCell("has %d lines, more than %d: split it where a new idea begins", lines, mostLines)
		}
		if cell.Outputs == nil {
			inCell("has no list of outputs")
		}
		executed++
		switch count := cell.ExecutionCount; {
		case count == nil:
			inCell("was not executed: run the whole notebook with notebooks/jupyter.sh execute")
		case *count != executed:
			inCell("was executed as number %d, not %d: run the whole notebook with notebooks/jupyter.sh execute", *count, executed)
		}
		for _, output := range cell.Outputs {
			if err := output.check(folders); err != nil {
				inCell("%w", err)
			}
			if output.showsFigure() {
				figures++
			}
		}
	}
	if figures == 0 {
		report("no cell shows a figure")
	}
	return errors.Join(found...)
}

// check returns an error for anything in an output that a reader should not see.
func (o *Output) check(folders []string) error {
	switch o.Type {
	case "stream", "display_data", "execute_result":
	case "error":
		return fmt.Errorf("failed with %s: %s", o.ErrorName, o.ErrorValue)
	default:
		return fmt.Errorf("the output type %q is not in nbformat 4", o.Type)
	}
	if o.Stream == "stderr" { // a failing %hm line or figure does not make its cell fail
		return fmt.Errorf("wrote to stderr: %s", strings.TrimSpace(string(o.Text)))
	}

	texts := []string{string(o.Text)}
	for media, data := range o.Data {
		if media == "image/png" {
			if err := checkPNG(data); err != nil {
				return err
			}
			continue
		}
		texts = append(texts, text(data))
	}
	for _, shown := range texts {
		if path := home.FindString(shown); path != "" {
			return fmt.Errorf("shows the home directory %s: print relative paths", path)
		}
		for _, folder := range folders {
			if strings.Contains(shown, folder) {
				return fmt.Errorf("shows the folder %s: print relative paths", folder)
			}
		}
		for _, source := range imageTag.FindAllStringSubmatch(shown, -1) {
			if !strings.HasPrefix(source[1], "data:") {
				return fmt.Errorf("links to an image outside the notebook: %s", source[1])
			}
		}
	}
	return nil
}

func checkPNG(data json.RawMessage) error {
	decoded, err := base64.StdEncoding.DecodeString(text(data)) // skips line breaks
	if err == nil {
		_, err = png.DecodeConfig(bytes.NewReader(decoded))
	}
	if err != nil {
		return fmt.Errorf("shows a damaged PNG: %w", err)
	}
	return nil
}

// showsFigure reports whether an output contains an image, directly or, like GoNB's SVG, within
// HTML.
func (o *Output) showsFigure() bool {
	html := text(o.Data["text/html"])
	return o.Data["image/png"] != nil || o.Data["image/svg+xml"] != nil ||
		slices.ContainsFunc([]string{"<svg", `src="data:image/`}, func(mark string) bool { return strings.Contains(html, mark) })
}

// text returns a string or a list of lines as text, and other JSON unchanged.
func text(data json.RawMessage) string {
	var joined Text
	if joined.UnmarshalJSON(data) != nil {
		return string(data)
	}
	return string(joined)
}
