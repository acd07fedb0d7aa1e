package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// NOTICES is what is written of go.mod now. That it can be written says that the licence
// of every module is allowed.
func TestNoticesAreUpToDate(t *testing.T) {
	t.Chdir("../..")
	want, err := current()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(noticesFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("NOTICES is not that of go.mod and its modules: write it anew with make notices")
	}
	for path, is := range map[string]bool{"github.com/go-zeromq/zmq4": true, "gorgonia.org/cu": true, "gonum.org/v1/plot": true, "pgregory.net/rapid": false} {
		if listed := strings.Contains(string(want), "\n  "+path+" "); listed != is {
			t.Errorf("%s among the modules that are linked: %v", path, listed)
		}
	}
}

func TestNames(t *testing.T) {
	const mit = "Permission is hereby granted, free of charge, to any person …\nTHE SOFTWARE IS\n PROVIDED \"AS IS\""
	const bsd = "Redistribution and use in source and\nbinary forms, … may not be used to endorse or promote products"
	for name, test := range map[string]struct {
		licenses []license
		names    []string
		says     string
	}{
		"one":               {[]license{{"LICENSE", mit}}, []string{"MIT"}, ""},
		"two":               {[]license{{"LICENSE", mit}, {"a/LICENSE", bsd}, {"b/COPYING", mit}}, []string{"BSD-3-Clause", "MIT"}, ""},
		"a notice":          {[]license{{"LICENSE", mit}, {"NOTICE.txt", "by …"}}, []string{"MIT"}, ""},
		"no licence":        {nil, nil, "has no licence"},
		"a notice alone":    {[]license{{"NOTICE", "by …"}}, nil, "has no licence"},
		"unknown":           {[]license{{"LICENSE", "All rights reserved."}}, nil, "LICENSE is not a known allowed licence"},
		"GPL":               {[]license{{"COPYING", "GNU GENERAL PUBLIC LICENSE\n   Version 3"}}, nil, "not allowed"},
		"LGPL beside":       {[]license{{"LICENSE", mit}, {"a/LICENSE", "GNU LESSER GENERAL PUBLIC LICENSE\nVersion 2.1"}}, nil, "a/LICENSE"},
		"AGPL with a grant": {[]license{{"LICENSE", mit + "GNU AFFERO GENERAL PUBLIC LICENSE Version 3"}}, nil, "not allowed"},
	} {
		names, err := module{Path: "example.org/m", Version: "v1.0.0", Licenses: test.licenses}.names()
		if !slices.Equal(names, test.names) || (err == nil) != (test.says == "") {
			t.Errorf("%s: %v, %v", name, names, err)
		}
		if err != nil && (!strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "example.org/m v1.0.0")) {
			t.Errorf("%s: the error %q does not say %q, or of what", name, err, test.says)
		}
	}
}
