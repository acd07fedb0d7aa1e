//go:build unix

package proxy

import (
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// indentation is what a console inserts for each open line of brackets. A terminal shows a tab as ^I.
const indentation = "    "

// completeness returns the content of the answer to a console that asks whether a cell is complete
// once Enter is pressed.
func completeness(code string) map[string]string {
	incomplete := map[string]string{"status": "incomplete", "indent": ""}
	lines := strings.Split(code, "\n")
	last := len(lines) - 1
	if takenWhole(lines[0]) {
		if last > 0 && strings.TrimSpace(lines[last]) == "" {
			return map[string]string{"status": "complete"}
		}
		return incomplete
	}
	taken, _ := commands(lines)
	if taken[last] && strings.HasSuffix(lines[last], `\`) {
		return incomplete
	}
	if end := strings.Split(strings.TrimSpace(code), "\n"); beginsMain(end[len(end)-1]) {
		return incomplete
	}
	text, isMain := "package main;", false
	for i, line := range lines {
		switch {
		case beginsMain(line):
			isMain = true
			text += "func main() {"
		case !taken[i] && !strings.HasPrefix(line, "package "): // GoNB ignores such lines
			text += line
		}
		text += "\n"
	}
	text = strings.TrimSpace(text)
	written := len(text)
	if isMain {
		text += "\n}"
	}
	open, comments := openBrackets(withoutCommands(code))
	if comments == nil { // a bracket is closed that is not open
		return map[string]string{"status": "invalid"}
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution|parser.AllErrors)
	var all scanner.ErrorList
	if !errors.As(err, &all) {
		return map[string]string{"status": "complete"}
	}
	unfinished := strings.HasPrefix(all[0].Msg, "raw string") || strings.HasPrefix(all[0].Msg, "comment")
	if all[0].Pos.Offset < written && !unfinished {
		return map[string]string{"status": "invalid"}
	}
	openLines := map[int]bool{}
	for _, b := range open {
		openLines[b.line] = true
	}
	if !unfinished { // a raw string would contain the indentation
		incomplete["indent"] = strings.Repeat(indentation, len(openLines))
	}
	return incomplete
}

// beginsMain reports whether GoNB puts the lines behind a line into the function main.
func beginsMain(line string) bool {
	line = withoutPrefix(line)
	return strings.HasPrefix(line, "%main") || strings.HasPrefix(line, "%%") && (len(line) == 2 || line[2] == ' ' || line[2] == '\t')
}
