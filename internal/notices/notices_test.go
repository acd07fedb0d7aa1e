package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// NOTICES is what is written of go.mod now. That it can be written says that the licence
// of every module is allowed.
func TestNoticesAreUpToDate(t *testing.T) {
	t.Chdir("../..")
	linked, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := inTools()
	if err != nil {
		t.Fatal(err)
	}
	want, err := notices(linked, tools)
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
		if listed := slices.ContainsFunc(linked, func(m module) bool { return m.Path == path }); listed != is {
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

// The bill of materials has each linked module once, and every module that is needed.
func TestBillOfMaterials(t *testing.T) {
	t.Chdir("../..")
	linked, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	text, err := billOfMaterials(linked, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var b bom
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b); err != nil {
		t.Fatal(err)
	}
	refs := map[string]bool{}
	for _, c := range append(b.Components, b.Metadata.Component) {
		if refs[c.Ref] || c.Name == "" || c.Version == "" || len(c.Licenses) != 1 || c.Licenses[0].Expression == "" || !strings.HasPrefix(c.URL, "pkg:golang/") {
			t.Errorf("the component %+v stands twice, or lacks something", c)
		}
		refs[c.Ref] = true
	}
	if len(refs) != len(linked) || b.Metadata.Component.Name != own {
		t.Errorf("%d components and the program %q for %d modules", len(refs), b.Metadata.Component.Name, len(linked))
	}
	for _, d := range b.Dependencies {
		if !refs[d.Ref] {
			t.Errorf("%s needs something, and is no component", d.Ref)
		}
		for _, need := range d.DependsOn {
			if !refs[need] {
				t.Errorf("%s needs %s, which is no component", d.Ref, need)
			}
		}
	}
	if again, err := billOfMaterials(linked, "v1.2.3"); err != nil || !bytes.Equal(again, text) {
		t.Error("the same modules give another text")
	}
}
