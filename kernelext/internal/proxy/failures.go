//go:build unix

package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"path/filepath"
	"regexp"
	"strings"
)

// GoNB puts the compiler's errors into a page of HTML and calls the failure of a cell "exit status 1".
// Terminals and programs that run notebooks show only text, so this kernel adds the text of each page, and
// says in the error of a cell why the cell failed.

// mostSaid is how many bytes of a cell's standard error are searched for the reason of its failure.
const mostSaid = 64 << 10

var (
	// exitStatus matches Go's text for the end of a program that failed.
	exitStatus = regexp.MustCompile(`^(exit status \d+|signal: [a-z ]+)\n?$`)
	panicked   = regexp.MustCompile(`(?ms)^(?:panic|fatal error): .+?(\n\[signal|\n\n|\z)`)
	logged     = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d `)

	// Parts of GoNB's report that the text omits: lines around an error, places in the file that GoNB
	// generates, and the name of that file's package.
	contexts  = regexp.MustCompile(`(?s)<div class="gonb-err-context">.*?</div></div>`)
	places    = regexp.MustCompile(`<span class="gonb-err-location">[^<]*</span>| \+0x[0-9a-f]+|# gonb_\w+`)
	ofCell    = regexp.MustCompile(`(<span class="gonb-cell-line-info">[^<]+)</span>`)
	invisible = regexp.MustCompile(`(?is)<style\b.*?</style>|<script\b.*?</script>|<svg\b.*?</svg>`)
	lineEnds  = regexp.MustCompile(`(?i)<br\b[^>]*>|</(?:p|div|tr|li|h\d|table|pre)>`)
	columns   = regexp.MustCompile(`(?i)</t[dh]>`)
	tags      = regexp.MustCompile(`<[a-zA-Z/!][^>]*(?:>|\z)`)
)

// textOf returns the text of a page of HTML.
func textOf(page string) string {
	page = invisible.ReplaceAllString(page, "")
	page = page[:min(len(page), mostSaid)]
	page = columns.ReplaceAllString(lineEnds.ReplaceAllString(page, "\n"), " ")
	page = html.UnescapeString(tags.ReplaceAllString(page, ""))
	var lines []string
	for line := range strings.SplitSeq(page, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// withText adds a text to data that have only a page of HTML, or another MIME type of text.
func withText(data map[string]string) map[string]string {
	if _, has := data["text/plain"]; !has {
		data["text/plain"] = data["text/markdown"]
		if page, is := data["text/html"]; is {
			data["text/plain"] = textOf(page)
		}
	}
	return data
}

// buildPaths matches the folders in which GoNB builds cells, below the folder of the kernel.
func buildPaths(dir string) *regexp.Regexp {
	return regexp.MustCompile(`[^\s"'(]*` + regexp.QuoteMeta(filepath.Base(dir)) + `/(?:tmp/gonb_[0-9a-f]+/|go/)`)
}

// explain edits a message of GoNB about a cell: it removes the paths of builds, adds a text to HTML, gives the reason
// in an error, and moves the size and the alternative text of a PNG image to the metadata of the image, where front
// ends look for them: GoNB passes on only texts and numbers as metadata.
func (k *Kernel) explain(c *cell, m *message) {
	withoutPaths := func(text string) string { return k.builds.ReplaceAllString(text, "") }
	switch m.Header.Type {
	case "stream":
		var s struct {
			Name string `json:"name"`
			Text string `json:"text"`
		}
		if !bytes.Contains(m.content, []byte(`"stderr"`)) || json.Unmarshal(m.content, &s) != nil || s.Name != "stderr" {
			return
		}
		if text := withoutPaths(s.Text); text != s.Text {
			s.Text = text
			m.content = encode(s)
		}
		if !exitStatus.MatchString(s.Text) {
			c.hear(s.Text)
		}
	case "display_data", "update_display_data", "execute_result":
		var content, data, metadata map[string]json.RawMessage
		var page string
		_ = json.Unmarshal(m.content, &content)
		_, _ = json.Unmarshal(content["data"], &data), json.Unmarshal(content["metadata"], &metadata)
		const image = "image/png"
		if data[image] != nil && metadata["width"] != nil && m.Header.Type == "display_data" {
			content["metadata"] = encode(map[string]any{image: metadata})
			m.content = encode(content)
		}
		if data["text/plain"] != nil {
			return
		}
		text := ""
		if json.Unmarshal(data["text/html"], &page) == nil {
			text = textOf(page)
		} else if json.Unmarshal(data["text/markdown"], &text) != nil {
			return
		}
		if strings.Contains(page, ".gonb-err-location {") {
			page = k.options.Magics.Suggest(withoutPaths(page))
			text = places.ReplaceAllString(contexts.ReplaceAllString(page, "</div>"), "")
			text = textOf(ofCell.ReplaceAllString(text, "$1:</span>"))
			text = strings.TrimSuffix(strings.ReplaceAll(text, ":\n", "\n"), ":")
			c.report = text
			data["text/html"] = encode(page)
		}
		data["text/plain"] = encode(text)
		content["data"] = encode(data)
		m.content = encode(content)
	case "error":
		var e struct {
			EValue    string
			Traceback []string
		}
		_ = json.Unmarshal(m.content, &e)
		k.mu.Lock()
		c.conclude(withoutPaths(e.EValue))
		if len(e.Traceback) > 0 && e.Traceback[0] != e.EValue { // GoNB's option -raw_error
			c.failure["traceback"] = strings.Split(withoutPaths(strings.Join(e.Traceback, "\x00")), "\x00")
		}
		k.mu.Unlock()
		m.content = encode(c.failure)
	}
}

// hear remembers what a cell writes to standard error: its end, or the begin of a panic.
func (c *cell) hear(text string) {
	if c.stderr += text; len(c.stderr) <= mostSaid {
		return
	}
	if at := panicked.FindStringIndex(c.stderr); at != nil {
		c.stderr = c.stderr[at[0]:min(at[1], at[0]+mostSaid)]
	} else {
		c.stderr = c.stderr[len(c.stderr)-mostSaid/2:]
	}
}

// conclude records how a cell failed, if it did. said is GoNB's error, or "" if GoNB knows none. The caller
// holds the lock of the kernel.
func (c *cell) conclude(said string) {
	unrun := context.Cause(c.ran) == errInterrupted
	if c.interrupted && (said != "" || unrun) {
		c.failure = failure(errInterrupted.Error())
		c.failure["ename"] = "Interrupted"
		return
	}
	at := c.report
	switch {
	case !exitStatus.MatchString(said):
		at = ""
		if c.report != "" && said != "" {
			said = c.report
		}
	default:
		if found := panicked.FindStringSubmatch(c.stderr); found != nil && said == "exit status 2" {
			said = strings.TrimSuffix(found[0], found[1])
		} else if last := strings.TrimSpace(c.stderr); last != "" {
			said += ": " + logged.ReplaceAllString(last[strings.LastIndexByte(last, '\n')+1:], "")
		}
	}
	for _, reason := range c.refused {
		if !strings.Contains(said, reason) {
			said = strings.TrimSpace(reason + "\n" + said)
		}
	}
	if said != "" {
		c.failure = failure(said)
		c.failure["traceback"] = strings.Split(strings.TrimSpace(said+"\n"+at), "\n")
	}
}

// Fail makes the running cell fail for a reason, whatever its program returns.
func (k *Kernel) Fail(reason string) {
	k.order.Lock()
	defer k.order.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ahead != nil {
		k.ahead.cell.refused = append(k.ahead.cell.refused, reason)
	}
}
