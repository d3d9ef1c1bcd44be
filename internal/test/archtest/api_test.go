package archtest

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// pages bounds the lines that go doc -short prints of a package. A host that imports one reads all
// of them; further names are in a package of their own.
var pages = map[string]int{
	"": 15, "gateway": 16, "legacy": 15, "mcpbus": 15, "oauth": 20, "oauth/signin": 15, "registry": 16,
	"gateway/billing": 20, "gateway/console": 22, "storage/counters": 20, "gateway/remote": 15,
	"storage": 56, "storage/driver": 39,
}

func TestGoDocFitsOnAPage(t *testing.T) {
	for pkg, most := range pages {
		cmd := exec.CommandContext(t.Context(), "go", "doc", "-short", "./"+pkg)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("go doc -short ./%s: %v", pkg, err)
		}
		if n := bytes.Count(out, []byte("\n")); n > most {
			t.Errorf("go doc -short ./%s has %d lines, at most %d fit", pkg, n, most)
		}
	}
}

// A type of internal/ in an exported signature is one that its reader cannot name, nor look up. Functions and
// variables by which the packages of a store hand each other documents are no part of its types and methods: a
// host can neither call nor use them. Records of internal/record pass between the Store and the rooms that it is handed
// to, and a host makes none.
func TestAPIExportsNoInternalType(t *testing.T) {
	public, exports := publicPackages(t)
	if len(public) < 10 {
		t.Fatalf("only %q are public: the test looks in the wrong place", public)
	}
	source := importer.ForCompiler(token.NewFileSet(), "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, path := range public {
		pkg, err := source.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range internalNames(pkg) {
			if !handsDocuments(pkg, found) && !strings.Contains(found, " of "+module+"/internal/record/") {
				t.Error(found)
			}
		}
	}
}

// handsDocuments reports whether a name is that of a function or variable of a package of the store, and not of a type,
// field or method, and names nothing but documents and their clock.
func handsDocuments(pkg *types.Package, found string) bool {
	at, what, _ := strings.Cut(found, " names ")
	name := strings.TrimPrefix(at, pkg.Name()+".")
	_, isType := pkg.Scope().Lookup(name).(*types.TypeName)
	return subjects[strings.TrimPrefix(pkg.Path(), module+"/")] && !isType && !strings.Contains(name, ".") &&
		(strings.HasSuffix(what, module+"/storage/internal/document") ||
			strings.HasSuffix(what, module+"/storage/internal/clock") ||
			strings.HasSuffix(what, module+"/storage/internal/fence"))
}

func TestInternalTypesAreFoundWhereverTheyAreNamed(t *testing.T) {
	inner := types.NewPackage(module+"/internal/secret", "secret")
	hidden := types.NewNamed(types.NewTypeName(token.NoPos, inner, "T", nil), types.Typ[types.Int], nil)
	public := types.NewPackage(module+"/room", "room")
	named := func(name string, of types.Type) *types.Named {
		n := types.NewTypeName(token.NoPos, public, name, nil)
		if token.IsExported(name) {
			public.Scope().Insert(n)
		}
		return types.NewNamed(n, of, nil)
	}
	field := func(name string) *types.Struct {
		return types.NewStruct([]*types.Var{types.NewField(token.NoPos, public, name, types.NewSlice(hidden), false)}, nil)
	}
	named("Field", field("Shown"))
	named("Quiet", field("hidden"))
	named("Behind", types.NewPointer(named("lower", field("Shown"))))
	signature := types.NewSignatureType(nil, nil, nil, nil,
		types.NewTuple(types.NewParam(token.NoPos, public, "", types.NewMap(types.Typ[types.String], hidden))), false)
	public.Scope().Insert(types.NewFunc(token.NoPos, public, "Func", signature))
	named("Faced", types.NewInterfaceType([]*types.Func{types.NewFunc(token.NoPos, public, "Do", signature)},
		nil).Complete())
	public.Scope().Insert(types.NewTypeName(token.NoPos, public, "Alias", hidden))
	faced := types.NewNamed(types.NewTypeName(token.NoPos, inner, "Store", nil),
		types.NewInterfaceType(nil, nil).Complete(), nil)
	named("Embeds", types.NewInterfaceType(nil, []types.Type{faced}).Complete())
	var at []string
	for _, found := range internalNames(public) {
		at = append(at, strings.Fields(found)[0])
	}
	if want := []string{"room.Alias", "room.Behind.Shown", "room.Embeds", "room.Faced.Do", "room.Field.Shown",
		"room.Func"}; !slices.Equal(at, want) {
		t.Errorf("found at %q, want %q", at, want)
	}
}

// publicPackages returns the packages that hosts import, and the export data of all that these need.
func publicPackages(t *testing.T) (public []string, exports map[string]string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		"./gateway/...", "./legacy/...", "./mcpbus/...", "./oauth/...", "./registry/...", "./storage/...", ".")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -export: %v", err)
	}
	exports = map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
		if ours(path) && !isInternal(path) {
			public = append(public, path)
		}
	}
	return public, exports
}

func isInternal(path string) bool { return ours(path) && strings.Contains(path+"/", "/internal/") }

// internalNames tells where what a package exports names types of internal packages.
func internalNames(pkg *types.Package) (found []string) {
	w := walk{seen: map[types.Type]bool{}}
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); o.Exported() {
			w.object(pkg.Name()+"."+name, o)
		}
	}
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

type walk struct {
	seen  map[types.Type]bool
	found []string
}

func (w *walk) object(at string, o types.Object) {
	if _, isConst := o.(*types.Const); isConst {
		return // its value is what counts
	}
	w.visit(at, o.Type())
}

func (w *walk) visit(at string, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		w.named(at, t.Obj(), t)
	case *types.Named:
		w.named(at, t.Obj(), t)
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels, maps
		if m, ok := t.(*types.Map); ok {
			w.visit(at, m.Key())
		}
		w.visit(at, t.Elem())
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				w.visit(at, v.Type())
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				w.visit(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for e := range t.EmbeddedTypes() {
			w.visit(at, e)
		}
		for m := range t.Methods() {
			if m.Exported() {
				w.visit(at+"."+m.Name(), m.Type())
			}
		}
	}
}

// named looks at a type that has a name. Those of other public packages are looked at there.
func (w *walk) named(at string, o *types.TypeName, t types.Type) {
	if o.Pkg() != nil && isInternal(o.Pkg().Path()) {
		w.found = append(w.found, fmt.Sprintf("%s names %s of %s", at, o.Name(), o.Pkg().Path()))
		return
	}
	if o.Pkg() == nil || !strings.HasPrefix(at, o.Pkg().Name()+".") || w.seen[t] {
		return
	}
	w.seen[t] = true
	if n, ok := t.(*types.Named); ok {
		w.visit(at, n.Underlying())
		for m := range n.Methods() {
			if m.Exported() {
				w.visit(at+"."+m.Name(), m.Type())
			}
		}
	} else {
		w.visit(at, types.Unalias(t))
	}
}
