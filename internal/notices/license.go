package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

type license struct{ File, Text string }

// known lists the allowed licences by their SPDX names, with words that identify them: permissive
// licences, and licences that affect only their own files. The first match counts.
var known = []struct {
	name  string
	words []string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0"}},
	{"MPL-2.0", []string{"Mozilla Public License", "2.0"}},
	{"OFL-1.1", []string{"SIL OPEN FONT LICENSE Version 1.1"}},
	{"FTL", []string{"The FreeType Project LICENSE"}},
	{"FTL", []string{"choice of exactly one of", "The FreeType License"}}, // the other choice is the GPL
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "endorse or promote"}},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}},
	{"MIT", []string{"Permission is hereby granted, free of charge", "THE SOFTWARE IS PROVIDED"}},
	{"ISC", []string{"Permission to use, copy, modify, and", "distribute this software for any purpose with or without fee"}},
	{"CC-BY-4.0", []string{"Creative Commons Attribution 4.0 International Public License"}}, // for svgo; it requires only credit
	{"Unlicense", []string{"This is free and unencumbered software released into the public domain"}},
}

// refused matches licences that affect programs linked with them.
var refused = regexp.MustCompile(`GNU (LESSER |AFFERO |LIBRARY )?GENERAL PUBLIC LICENSE\s+Version|Server Side Public License|Business Source License|Commons Clause`)

var spaces = regexp.MustCompile(`\s+`)

// name returns the SPDX name of the licence. It is empty for a file that only gives credit or
// grants rights.
func (l license) name() (string, error) {
	text := spaces.ReplaceAllString(l.Text, " ")
	if words := refused.FindString(text); words != "" {
		return "", fmt.Errorf("%s is %q, which is not allowed: do without the module", l.File, words)
	}
	for _, k := range known {
		if !slices.ContainsFunc(k.words, func(words string) bool { return !strings.Contains(text, words) }) {
			return k.name, nil
		}
	}
	if beside.MatchString(l.File) {
		return "", nil
	}
	return "", fmt.Errorf("%s is not a known allowed licence: read it, and add it to internal/notices, or do without the module", l.File)
}

// beside matches files that accompany a licence, but are not licences themselves.
var beside = regexp.MustCompile(`(?i)(^|/)(notice|patents|copyright|license-link)[^/]*$`)

// names returns the sorted SPDX names of the module's licences, all of which apply. It refuses a
// module without a licence.
func (m module) names() ([]string, error) {
	var names []string
	for _, l := range m.Licenses {
		name, err := l.name()
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
		}
		if name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s %s has no licence: do without the module", m.Path, m.Version)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
