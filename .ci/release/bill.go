package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// bill returns what a program is made of, by what the go command left in it: a CycloneDX 1.6 document,
// and the texts of all licences.
func (s source) bill(ctx context.Context, binary string) (document, texts []byte, err error) {
	modules, err := linked(binary)
	if err != nil {
		return nil, nil, err
	}
	found, err := licencesOf(ctx, s.dir, modules)
	if err != nil {
		return nil, nil, err
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, nil, err
	}
	document, err = cycloneDX(s, sha256.Sum256(program), found)
	return document, licenceTexts(found), err
}

// linked returns the modules of a program, and the standard library.
func linked(binary string) (all []module, err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s: a release is made of what go.mod names", m.Path, m.Replace.Path)
		}
		all = append(all, module{m.Path, m.Version})
	}
	return append(all, module{standard, strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")}), nil
}

// standard is what lists of advisories and of components call the standard library.
const standard = "stdlib"

type module struct{ path, version string }

func (m module) purl() string { return "pkg:golang/" + m.path + "@" + m.version }

// The part of CycloneDX that is written.
type (
	component struct {
		Type     string       `json:"type"`
		Ref      string       `json:"bom-ref"`
		Name     string       `json:"name"`
		Version  string       `json:"version"`
		Licences []licenceRef `json:"licenses,omitempty"`
		PURL     string       `json:"purl"`
		Hashes   []hash       `json:"hashes,omitempty"`
	}
	licenceRef struct {
		Licence struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn,omitempty"`
	}
	metadata struct {
		Time      string    `json:"timestamp"`
		Component component `json:"component"`
	}
	bom struct {
		Schema       string       `json:"$schema"`
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
)

func refs(ids []string) (all []licenceRef) {
	for _, id := range ids {
		var l licenceRef
		l.Licence.ID = id
		all = append(all, l)
	}
	return all
}

// cycloneDX writes the document. Its serial number follows from the program, so that it is the same
// whenever it is made.
func cycloneDX(s source, sum [32]byte, found []licence) ([]byte, error) {
	main := module{"github.com/keystile/keystile", "v" + s.version}
	d := bom{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6",
		Version: 1}
	id := slices.Clone(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // a UUID of version 8 (RFC 9562)
	d.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	d.Metadata = metadata{Time: s.at.Format(time.RFC3339), Component: component{
		Type: "application", Ref: main.purl(), Name: "keystile", Version: s.version, PURL: main.purl(),
		Licences: refs([]string{"Apache-2.0"}), Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sum)}},
	}}
	all := dependency{Ref: main.purl()}
	for _, l := range found {
		d.Components = append(d.Components, component{
			Type: "library", Ref: l.purl(), Name: l.path, Version: l.version, PURL: l.purl(), Licences: refs(l.ids),
		})
		d.Dependencies = append(d.Dependencies, dependency{Ref: l.purl()})
		all.On = append(all.On, l.purl())
	}
	d.Dependencies = slices.Insert(d.Dependencies, 0, all)
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}
