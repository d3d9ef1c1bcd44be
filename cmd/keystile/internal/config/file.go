package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/redact"
)

// file reads a configuration file; "" is none.
func (l *loader) file(name string) map[string]given {
	if name == "" {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		l.complain("config: %s; name a file that exists and can be read", redact.Text(err.Error()))
		return nil
	}
	f := fileReader{loader: l, name: name, found: map[string]given{}}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF): // an empty file
		return nil
	case err != nil && strings.Contains(err.Error(), "anchor"): // it would be quoted, and may be a password
		l.complain("%s: it is no YAML: a value begins with * or &; write it in quotes", name)
	case err != nil:
		l.complain("%s: %w", name, err)
		return nil
	case dec.Decode(new(yaml.Node)) != io.EOF:
		l.complain("%s: it holds more than one document (---); keep one", name)
	}
	f.group("", doc.Content[0])
	return f.found
}

type fileReader struct {
	*loader
	name  string
	found map[string]given
}

func (f *fileReader) place(n *yaml.Node) string { return fmt.Sprintf("%s:%d", f.name, n.Line) }

// group reads the keys of a mapping. lifetimes: {code: 5m} and lifetimes.code: 5m are the same.
func (f *fileReader) group(prefix string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		if prefix == "" && n.Tag == "!!null" {
			return // nothing but comments
		}
		f.complain("%s: a mapping is wanted here: a key, a colon, a value", f.place(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		name := prefix + at.Value
		k, known := inFileNamed(name)
		switch {
		case known:
			f.value(k, at, value)
		case value.Kind == yaml.MappingNode:
			f.group(name+".", value)
		default:
			f.unknown(name, at)
		}
	}
}

func (f *fileReader) value(k key, at, n *yaml.Node) {
	var parts []string
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		parts = []string{n.Value}
	case n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content,
		func(e *yaml.Node) bool { return e.Kind != yaml.ScalarNode }):
		for _, e := range n.Content {
			parts = append(parts, e.Value)
		}
	case k.objects && n.Kind == yaml.SequenceNode:
		var list []any
		text, err := []byte(nil), n.Decode(&list)
		if err == nil {
			text, err = json.Marshal(list)
		}
		if err != nil {
			f.complain("%s: %s: a list of objects is wanted: %w", f.place(n), k.name, err)
			return
		}
		parts = []string{string(text)}
	default:
		f.complain("%s: %s: a plain value is wanted, for example %s: %s", f.place(at), k.name, k.name, k.example)
		return
	}
	if before, twice := f.found[k.name]; twice {
		f.complain("%s: %s stands in %s already", f.place(at), k.name, before.source)
	}
	f.found[k.name] = given{strings.Join(parts, ", "), f.place(at)}
}

func (f *fileReader) unknown(name string, at *yaml.Node) {
	switch name {
	case "config":
		f.complain("%s: config: a file cannot name another one; use --config", f.place(at))
	case "master_key":
		f.complain("%s: master_key: the key has no place in a file that is copied around; use master_key_file, or "+
			"KEYSTILE_MASTER_KEY in the environment", f.place(at))
	default:
		f.complain("%s: unknown key %q%s", f.place(at), redact.Text(name),
			cli.Hint("; the nearest known one is %q", name, fileNames()))
	}
}

func inFileNamed(name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name && k.in(inFile) })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

func fileNames() []string {
	var names []string
	for _, k := range keys {
		if k.in(inFile) {
			names = append(names, k.name)
		}
	}
	return names
}
