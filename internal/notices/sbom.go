package main

import (
	"encoding/json"
	"runtime"
	"strings"
)

// bom is a bill of materials in the format CycloneDX 1.6, with the fields used here.
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type     string   `json:"type"`
	Ref      string   `json:"bom-ref"`
	Name     string   `json:"name"`
	Version  string   `json:"version,omitempty"`
	Licenses []choice `json:"licenses"`
	URL      string   `json:"purl"`
}

// choice is an expression of SPDX names.
type choice struct {
	Expression string `json:"expression"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// billOfMaterials lists the modules linked into a version of the program, with their licences and
// dependencies. The same modules give the same bytes.
func billOfMaterials(linked []module, version string) ([]byte, error) {
	b := bom{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1}
	for _, m := range linked {
		c := component{Type: "library", Name: m.Path, Version: m.Version}
		if m.Path == standard {
			c.Version = strings.TrimPrefix(runtime.Version(), "go")
		}
		if m.Path == own {
			c.Type, c.Version = "application", version
		}
		names, err := m.names()
		if err != nil {
			return nil, err
		}
		c.Licenses = []choice{{strings.Join(names, " AND ")}}
		c.Ref, c.URL = m.Path, purl(c)
		if m.Path == own {
			b.Metadata.Component = c
		} else {
			b.Components = append(b.Components, c)
		}
		b.Dependencies = append(b.Dependencies, dependency{m.Path, append([]string{}, m.Needs...)})
	}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func purl(c component) string {
	url := "pkg:golang/" + strings.ToLower(c.Name)
	if c.Version != "" {
		url += "@" + strings.ReplaceAll(c.Version, "+", "%2B")
	}
	return url
}
