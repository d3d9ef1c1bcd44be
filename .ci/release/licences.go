package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// licence holds what somebody else's module is licensed by.
type licence struct {
	module
	ids   []string // of SPDX
	texts []string // of its licence and notice files
}

// licenceFile matches the files of a module that say what it may be used for.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([._-].*)?$`)

// licencesOf reads the licences of modules from the module cache. A module without one that is known
// is an error: somebody has to read it.
func licencesOf(ctx context.Context, dir string, modules []module) (all []licence, err error) {
	paths := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, m := range modules {
		if m.path != standard {
			paths = append(paths, m.path)
		}
	}
	listed, err := run(ctx, dir, nil, "go", paths...)
	if err != nil {
		return nil, err
	}
	goroot, err := run(ctx, dir, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	where := map[string]string{standard: goroot}
	for line := range strings.Lines(listed) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		where[path] = folder
	}
	var errs []error
	for _, m := range modules {
		l, err := licenceIn(m, where[m.path])
		errs = append(errs, err)
		all = append(all, l)
	}
	return all, errors.Join(errs...)
}

func licenceIn(m module, dir string) (l licence, err error) {
	l.module = m
	files, err := os.ReadDir(dir)
	if err != nil {
		return l, fmt.Errorf("%s is not in the module cache: go mod download: %w", m.path, err)
	}
	ids := map[string]bool{}
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return l, err
		}
		l.texts = append(l.texts, strings.ReplaceAll(string(text), "\r\n", "\n"))
		for _, id := range identify(string(text)) {
			ids[id] = true
		}
	}
	l.ids = slices.Sorted(maps.Keys(ids))
	if len(ids) == 0 {
		return l, fmt.Errorf("%s %s: no known licence among its files in %s: read it, and add to the table of licences",
			m.path, m.version, dir)
	}
	return l, nil
}

// sentences are what licences are known by, without line breaks and in small letters.
var sentences = []struct{ id, has, not string }{
	{"Apache-2.0", "apache license version 2.0, january 2004", ""},
	{"Apache-2.0", "licensed under the apache license, version 2.0", ""},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software and " +
		"associated documentation files", ""},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from", ""},
	{"BSD-2-Clause", "redistributions in binary form must reproduce the above copyright notice",
		"may be used to endorse or promote products derived from"},
	{"MPL-2.0", "mozilla public license, version 2.0", ""},
	{"MPL-2.0", "mozilla public license version 2.0", ""},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is " +
		"hereby granted", ""},
}

// identify returns the licences that a text holds.
func identify(text string) (ids []string) {
	// > quotes
	small := strings.Join(strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return unicode.IsSpace(r) || r == '>' }), " ")
	for _, s := range sentences {
		if strings.Contains(small, s.has) && (s.not == "" || !strings.Contains(small, s.not)) && !slices.Contains(ids, s.id) {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// licenceTexts puts all texts into one file. Modules that have the same are named together.
func licenceTexts(all []licence) []byte {
	var order []string
	of := map[string][]string{}
	for _, l := range all {
		text := strings.TrimSpace(strings.Join(l.texts, "\n\n"))
		if of[text] == nil {
			order = append(order, text)
		}
		of[text] = append(of[text], l.path+" "+l.version)
	}
	var b bytes.Buffer
	b.WriteString("Keystile is licensed under the Apache License 2.0 (LICENSE). The program holds code of others:\n")
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 78), strings.Join(of[text], "\n"), text)
	}
	return b.Bytes()
}

const licencesFile = ".github/LICENCES.md"

// writeLicences writes the page of licences for what is linked for any system.
func writeLicences(ctx context.Context, dir string) error {
	page, err := licencesPage(ctx, dir)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(licencesFile)), page, 0o644)
}

// licencesPage lists the modules of the program on all systems, without building it.
func licencesPage(ctx context.Context, dir string) ([]byte, error) {
	modules, err := importedAnywhere(ctx, dir)
	if err != nil {
		return nil, err
	}
	sorted := slices.SortedFunc(maps.Keys(modules), func(a, b module) int { return strings.Compare(a.path, b.path) })
	all, err := licencesOf(ctx, dir, sorted)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("# Licences\n\nKeystile is under the Apache License 2.0. These modules of others are linked into " +
		"`keystile`; their\ntexts are in `LICENCES.txt` of each release. `go run ./.ci/release licences` writes this page, " +
		"and a test\nholds it to what is linked.\n\n| Module | Version | Licence |\n|---|---|---|\n")
	for _, l := range all {
		version := l.version
		if l.path == standard {
			l.path, version = "the standard library of Go", "that of go.mod"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", l.path, version, strings.Join(l.ids, ", "))
	}
	return b.Bytes(), nil
}

// imported returns the packages of others that the program is made of on a system, by their module.
func imported(ctx context.Context, dir, target string) (map[module][]string, error) {
	system, arch, _ := strings.Cut(target, "/")
	env := append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	out, err := run(ctx, dir, env, "go", "list", "-deps", "-f",
		"{{.ImportPath}} {{with .Module}}{{if .Main}}main{{else}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/keystile")
	if err != nil {
		return nil, err
	}
	goVersion, err := run(ctx, dir, nil, "go", "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	all := map[module][]string{}
	for line := range strings.Lines(out) {
		switch words := strings.Fields(line); len(words) {
		case 3:
			m := module{words[1], words[2]}
			all[m] = append(all[m], words[0])
		case 1:
			m := module{standard, strings.TrimPrefix(goVersion, "go")}
			all[m] = append(all[m], words[0])
		}
	}
	return all, nil
}

// importedAnywhere is imported for all systems.
func importedAnywhere(ctx context.Context, dir string) (map[module][]string, error) {
	all := map[module][]string{}
	for target := range strings.SplitSeq(everywhere, ",") {
		found, err := imported(ctx, dir, target)
		if err != nil {
			return nil, err
		}
		for m, packages := range found {
			all[m] = slices.Compact(slices.Sorted(slices.Values(append(all[m], packages...))))
		}
	}
	return all, nil
}
