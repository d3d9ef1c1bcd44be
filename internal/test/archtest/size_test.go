package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits of what is read as a whole.
const (
	mostDeclared = 12   // methods that an interface declares itself; it may embed others, each of a subject
	mostMethods  = 45   // of one type
	mostLines    = 2500 // of a package, without its tests
)

// frozen interfaces declare more: adapters implement them.
var frozen = map[string]bool{"storage/driver.Backend": true}

// large packages have more lines. A sentence of their doc.go with "one package because" says why.
var large = []string{
	"cmd/keystile/command", "cmd/keystile/internal/admin", "gateway", "internal/restcall", "internal/toolschema", "mcpbus",
	"oauth", "registry/openapi", "storage/bolt", "storage/postgres",
}

// sizes are those of one package of the product.
type sizes struct {
	lines    int
	declared map[string]int // by interfaces, by their names
	methods  map[string]int // of types, by their names
}

func TestInterfacesTypesAndPackagesStaySmall(t *testing.T) {
	looked := 0
	for pkg, names := range goFiles(t) {
		if !shipped(pkg) {
			continue
		}
		looked++
		s := sizesOf(t, names)
		for _, name := range slices.Sorted(maps.Keys(s.declared)) {
			if n := s.declared[name]; n > mostDeclared && !frozen[pkg+"."+name] {
				t.Errorf("%s.%s declares %d methods, at most %d: cut it by subjects and embed them", pkg, name, n, mostDeclared)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.methods)) {
			if n := s.methods[name]; n > mostMethods {
				t.Errorf("%s.%s has %d methods, at most %d", pkg, name, n, mostMethods)
			}
		}
		listed := slices.Contains(large, pkg)
		if s.lines > mostLines && !listed {
			t.Errorf("%s has %d lines, at most %d: look for the second thing that it does", pkg, s.lines, mostLines)
		}
		if s.lines <= mostLines && listed {
			t.Errorf("%s has %d lines: it is large no more", pkg, s.lines)
		}
		doc, _ := os.ReadFile(filepath.Join(root, pkg, "doc.go"))
		if listed && !strings.Contains(string(doc), "one package because") {
			t.Errorf("%s/doc.go does not say why it is one package, with: one package because", pkg)
		}
	}
	if looked < 100 {
		t.Fatalf("only %d packages are looked at", looked)
	}
}

// shipped reports whether a package is of the product: no test, contract, fake or example.
func shipped(pkg string) bool {
	for _, other := range []string{"internal/test", "examples", ".ci", "storage/storagetest",
		"storage/counters/countertest", "oauth/signin/connector/fake"} {
		if within(pkg, other) {
			return false
		}
	}
	return true
}

func sizesOf(t *testing.T, names []string) sizes {
	t.Helper()
	s := sizes{declared: map[string]int{}, methods: map[string]int{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.add(text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return s
}

func (s sizes) count(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if i, is := n.Type.(*ast.InterfaceType); is {
				for _, m := range i.Methods.List {
					s.declared[n.Name.Name] += len(m.Names) // an embedded interface has none
				}
			}
		case *ast.FuncDecl:
			if n.Recv != nil {
				of := n.Recv.List[0].Type
				if p, is := of.(*ast.StarExpr); is {
					of = p.X
				}
				if generic, is := of.(*ast.IndexExpr); is {
					of = generic.X
				}
				s.methods[fmt.Sprint(of)]++
			}
		}
		return true
	})
}

func (s *sizes) add(text []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s.lines += bytes.Count(text, []byte("\n"))
	s.count(f)
	return nil
}

func TestSizesCountWhatATypeHasItself(t *testing.T) {
	s := sizes{declared: map[string]int{}, methods: map[string]int{}}
	const text = "package p\ntype I interface {\n\tOther\n\tA()\n\tB() int\n}\ntype T[E any] struct{}\n" +
		"func (t T[E]) A() " +
		"{}\nfunc (*T[E]) B() {}\n"
	if err := s.add([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if s.declared["I"] != 2 || s.methods["T"] != 2 || s.lines != 9 {
		t.Errorf("counted %+v, want 2 methods declared by I, 2 of T and 9 lines", s)
	}
}
