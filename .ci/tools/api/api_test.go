package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// library is a module as a release left it. Its packages cold, firm and loose are frozen, stable and experimental.
const library = `package lib

import "context"

// Store is implemented by hosts.
type Store interface{ Get(ctx context.Context, id string) ([]byte, error) }

// RecordStore is what this asks of the store.
type RecordStore interface{ Record(n int) string }

// Config is written by hosts.
type Config struct {
	Name  string
	Limit int

	hidden int
}

// Most is a bound.
const Most = 50

// New makes a thing.
func New(ctx context.Context, c Config) (*Thing, error) { return nil, nil }

// Map changes each.
func Map[T any, U comparable](list []T, f func(T) U) []U { return nil }

// Thing does the work.
type Thing struct{ base }

type base struct{ Log func(string) }

// Close ends it.
func (b *base) Close() error { return nil }
`

// madeModule makes a module of some packages of each promise, and writes its API down.
func madeModule(t *testing.T, each ...string) (root, kept string) {
	t.Helper()
	root, kept = t.TempDir(), t.TempDir()
	write(t, root, "go.mod", "module example.com/lib\n\ngo 1.26\n")
	doc := "// Package lib is the root.\n//\n// # Stability\n//\n// Which is which:\n//\n//\tstable lib\n"
	for of, folder := range map[promise]string{frozen: "cold", stable: "firm", experimental: "loose"} {
		doc += "//\t" + string(of)
		for _, name := range each {
			doc += " " + folder + "/" + name
			write(t, root, folder+"/"+name+"/lib.go", library)
		}
		doc += "\n"
	}
	write(t, root, "doc.go", strings.Replace(doc, "stable lib", "stable lib storage", 1)+"package lib\n")
	write(t, root, "storage/store.go", "package storage\n\ntype Store struct{}\n\n"+
		"func (*Store) Record(n int) string { return string(rune(n)) }\n\nfunc (*Store) Records() int { return 0 }\n")
	if err := run(root, kept, "v0.1.0", nil); err != nil {
		t.Fatal(err)
	}
	return root, kept
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAPIOfAReleaseKeepsItsPromise(t *testing.T) {
	root, kept := madeModule(t, "a")
	if err := run(root, kept, "", nil); err != nil {
		t.Errorf("nothing has changed, and it says %v", err)
	}
}

// Code that compiled against a release must go on compiling, and adapters of a frozen package must be whole.
func TestChangesAreJudgedByWhatWasPromised(t *testing.T) {
	const broken, frozenOnly, fine = "firm and cold", "cold", ""
	cases := []struct{ name, old, new, breaks string }{
		{"a method of an interface is added", "interface{ Get(", "interface{ Close() error; Get(", broken},
		{"a method of an interface is gone", "interface{ Get(ctx context.Context, id string) ([]byte, error) }",
			"interface{}", broken},
		{"the store is asked more", "interface{ Record(", "interface{ Records() int; Record(", frozenOnly},
		{"the store is asked what it has not", "interface{ Record(", "interface{ Renew(); Record(", broken},
		{"a field is renamed", "\tLimit int", "\tLimits int", broken},
		{"a field has another type", "\tLimit int", "\tLimit int64", broken},
		{"a parameter is added", "c Config) (*Thing", "c Config, more int) (*Thing", broken},
		{"a result is gone", "c Config) (*Thing, error) { return nil, nil }", "c Config) *Thing { return nil }", broken},
		{"a function is gone", "func New(", "func makeNew(", broken},
		{"a constant has another value", "Most = 50", "Most = 60", broken},
		{"a type parameter demands more", "T any, U", "T comparable, U", broken},
		{"a promoted method is gone", "(b *base) Close()", "(b *base) end()", broken},
		{"a promoted field is gone", "struct{ Log func", "struct{ log func", broken},
		{"a struct can be compared no more", "hidden int", "hidden []int", broken},
		{"a field is added", "\tLimit int", "\tLimit int\n\tMore  bool", frozenOnly},
		{"a method of a type is added", "// Close ends it.", "// Open begins it.\nfunc (b *base) Open() {}\n\n" +
			"// Close ends it.", frozenOnly},
		{"a function is added", "// Map changes", "// Old makes one.\nfunc Old() {}\n\n// Map changes", frozenOnly},
		{"an optional interface is added", "// Map changes", "// Lister is optional.\n" +
			"type Lister interface{ List() []string }\n\n// Map changes", fine},
		{"a field that nobody sees is added", "hidden int", "hidden, more int", fine},
		{"a parameter has another name", "id string", "key string", fine},
		{"a body does something else", "return nil, nil", "return &Thing{}, nil", fine},
		{"an unexported function is there", "// Map changes", "func help() {}\n\n// Map changes", fine},
		{"an interface that is there grows none", "// Store is implemented", "// A Store is implemented", fine},
	}
	var names []string
	for i := range len(cases) {
		names = append(names, fmt.Sprintf("case%02d", i))
	}
	root, kept := madeModule(t, names...)
	overlay := map[string][]byte{}
	for i, c := range cases {
		if strings.Count(library, c.old) != 1 {
			t.Fatalf("%s: %q is not there once", c.name, c.old)
		}
		for _, folder := range []string{"cold", "firm", "loose"} {
			overlay[filepath.Join(root, folder, names[i], "lib.go")] = []byte(strings.Replace(library, c.old, c.new, 1))
		}
	}
	if err := run(root, kept, "", overlay); err == nil || !strings.Contains(err.Error(), "changes break") {
		t.Errorf("it says %v", err)
	}
	found := judged(t, root, kept, overlay)
	for i, c := range cases {
		for _, folder := range []string{"cold", "firm", "loose"} {
			if got, want := found[folder+"/"+names[i]], strings.Contains(c.breaks, folder); got != want {
				t.Errorf("%s, in a package that is %s: broken is %v, want %v", c.name, folder, got, want)
			}
		}
	}
}

// judged says of which packages something is broken.
func judged(t *testing.T, root, kept string, overlay map[string][]byte) map[string]bool {
	t.Helper()
	of, err := readPromises(filepath.Join(root, "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	now, err := load(root, overlay, "./...")
	if err != nil {
		t.Fatal(err)
	}
	before, err := readDown(filepath.Join(kept, "v0.1.0"), now)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, c := range compare(before, now, of) {
		found[c.of] = found[c.of] || c.broken
	}
	return found
}

func TestPackageHasItsPromise(t *testing.T) {
	for name, change := range map[string]struct{ file, text, complaint string }{
		"a package without": {"new/new.go", "package new\n", "says nothing about package new"},
		"one that is gone": {"doc.go", "// Package lib.\n//\n// # Stability\n//\n//\tstable lib storage firm/a gone\n" +
			"//\tfrozen cold/a\n//\texperimental loose/a\npackage lib\n", "there is none"},
		"one listed twice": {"doc.go", "// Package lib.\n//\n// # Stability\n//\n//\tstable lib storage firm/a cold/a\n" +
			"//\tfrozen cold/a\n//\texperimental loose/a\npackage lib\n", "stands there twice"},
		"no list": {"doc.go", "package lib\n", "no heading Stability"},
	} {
		root, kept := madeModule(t, "a")
		write(t, root, change.file, change.text)
		if err := run(root, kept, "", nil); err == nil || !strings.Contains(err.Error(), change.complaint) {
			t.Errorf("%s: %v; want %q", name, err, change.complaint)
		}
	}
}

// A package that a release had is missed, whatever the list says by now.
func TestPackageThatIsGoneBreaksHosts(t *testing.T) {
	root, kept := madeModule(t, "a")
	if err := os.RemoveAll(filepath.Join(root, "firm")); err != nil {
		t.Fatal(err)
	}
	write(t, root, "doc.go", "// Package lib.\n//\n// # Stability\n//\n//\tstable lib storage\n//\tfrozen cold/a\n"+
		"//\texperimental loose/a\npackage lib\n")
	if err := run(root, kept, "", nil); err == nil || !strings.Contains(err.Error(), "1 changes break") {
		t.Errorf("it says %v", err)
	}
}

// This module itself: an adapter of today would not be whole with another method.
func TestMethodMoreOfTheBackendIsFound(t *testing.T) {
	const root = "../../.."
	file, err := filepath.Abs(root + "/storage/driver/backend.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	planted := strings.Replace(string(text), "type Backend interface {\n", "type Backend interface {\n\tPlanted()\n", 1)
	now, err := load(root, map[string][]byte{file: []byte(planted)}, "./storage/driver")
	if err != nil {
		t.Fatal(err)
	}
	release, err := newest("testdata")
	if err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(filepath.Join("testdata", release, "storage", "driver.go"))
	if err != nil {
		t.Fatal(err)
	}
	alone := t.TempDir()
	write(t, alone, "driver.go", string(text))
	before, err := readDown(alone, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range compare(before, now, promises{"storage/driver": frozen}) {
		if c.broken && strings.Contains(c.what, "Planted") {
			return
		}
	}
	t.Error("the method is not found")
}
