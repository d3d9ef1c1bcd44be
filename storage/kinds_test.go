package storage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// kind is one of documents, of whatever type.
type kind struct{ reflect.Value }

// kinds are all, by their names.
func kinds() map[string]kind {
	all := map[string]kind{}
	for _, k := range storage.KindsForTest {
		v := reflect.ValueOf(k)
		all[v.FieldByName("Name").String()] = kind{v}
	}
	return all
}

// record returns a new record of the kind.
func (k kind) record() reflect.Value {
	return reflect.New(k.FieldByName("Version").Type().In(0).Elem())
}

func (k kind) doc(s *storage.Store, record reflect.Value) (driver.Doc, error) {
	out := k.MethodByName("Doc").Call([]reflect.Value{reflect.ValueOf(storage.DocumentsForTest(s)), record.Elem()})
	err, _ := out[1].Interface().(error)
	return out[0].Interface().(driver.Doc), err
}

// read returns a pointer to the record of a document, as one that was read before.
func (k kind) read(s *storage.Store, d driver.Doc) (reflect.Value, error) {
	out := k.MethodByName("Record").Call([]reflect.Value{reflect.ValueOf(storage.DocumentsForTest(s)), reflect.ValueOf(d)})
	if err, _ := out[1].Interface().(error); err != nil {
		return reflect.Value{}, err
	}
	record := k.record()
	record.Elem().Set(out[0])
	if clone := k.FieldByName("Clone"); !clone.IsNil() {
		record.Elem().Set(clone.Call([]reflect.Value{out[0]})[0])
	}
	return record, nil
}

// writeNew returns the document of a record with something in each field.
func (k kind) writeNew(s *storage.Store, fill func(record reflect.Value)) (driver.Doc, error) {
	v := k.record()
	fill(v.Elem())
	if secrets := k.FieldByName("Secrets"); !secrets.IsNil() {
		for _, secret := range secrets.Call([]reflect.Value{v})[0].Seq2() {
			*secret.Interface().(*storage.Secret) = storage.NewSecret("what is secret")
		}
	}
	return k.doc(s, v)
}

// rewrite reads a document, changes the record and writes it.
func (k kind) rewrite(s *storage.Store, d driver.Doc, change func(record reflect.Value)) (driver.Doc, error) {
	v, err := k.read(s, d)
	if err != nil {
		return d, err
	}
	change(v.Elem())
	return k.doc(s, v)
}

// wholly reads a document, and fails if it has a field that nobody knows.
func (k kind) wholly(s *storage.Store, d driver.Doc) error {
	v, err := k.read(s, d)
	if err != nil {
		return err
	}
	if id := k.FieldByName("ID").Call([]reflect.Value{v.Elem()})[0].String(); id != d.ID {
		return fmt.Errorf("its id is %q, and it is at %q", id, d.ID)
	}
	text, _, _ := bytes.Cut(d.Data, []byte("\n"))
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(k.record().Interface()); err != nil {
		return fmt.Errorf("a field of it is read no more (give it another name only beside the old one): %w", err)
	}
	return nil
}

// seal seals a text for a place in a document.
func seal(t *testing.T, s *storage.Store, text string, d driver.Doc, field string) []byte {
	t.Helper()
	type record struct{ document.Counter }
	secret := storage.NewSecret(text)
	like := document.Kind[record]{
		Name: d.Kind, ID: func(record) string { return d.ID }, Version: func(r *record) *int64 { return &r.Version },
		Secrets: func(*record) map[string]*storage.Secret { return map[string]*storage.Secret{field: &secret} },
	}
	made, err := like.Doc(storage.DocumentsForTest(s), record{})
	if err != nil {
		t.Fatal(err)
	}
	return sealedOf(t, made)[field]
}

// A kind that is not on the list of its package would not be resealed when the master key changes, nor tried here.
func TestKindsListEveryKindThatIsDeclared(t *testing.T) {
	total := 0
	for _, dir := range []string{"internal/document", "internal/clock", "people", "groups", "authn", "apps", "tools",
		"service"} {
		declared, listed := kindsIn(t, dir)
		total += len(declared)
		if !slices.Equal(declared, listed) {
			t.Errorf("%s declares the kinds %q, and Kinds lists %q", dir, declared, listed)
		}
	}
	if all := kinds(); len(all) != total || total < 40 {
		t.Errorf("%d kinds are declared, and %d have a name of their own", total, len(all))
	}
}

// kindsIn returns the kinds that a package declares and those that it lists.
func kindsIn(t *testing.T, dir string) (declared, listed []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatal(dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Values) != 1 {
				return true
			}
			made, is := spec.Values[0].(*ast.CompositeLit)
			if !is {
				return true
			}
			if of, is := made.Type.(*ast.IndexExpr); is {
				if sel, is := of.X.(*ast.SelectorExpr); is && sel.Sel.Name == "Kind" || fmt.Sprint(of.X) == "Kind" {
					declared = append(declared, spec.Names[0].Name)
				}
			}
			if spec.Names[0].Name == "Kinds" {
				for _, e := range made.Elts {
					listed = append(listed, fmt.Sprint(e))
				}
			}
			return true
		})
	}
	slices.Sort(declared)
	slices.Sort(listed)
	return declared, listed
}

// A document without an index entry, which no List returns, would be lost with the old master key.
func TestKindsWithSealedFieldsHaveIndexEntries(t *testing.T) {
	s, _ := open(t)
	sealed := 0
	for name, k := range kinds() {
		if k.FieldByName("Secrets").IsNil() {
			continue
		}
		sealed++
		if d, err := k.doc(s, k.record()); err != nil || len(d.Index) == 0 {
			t.Errorf("%s has secrets and the index entries %q (%v): Reseal cannot find it; give each document one", name,
				d.Index, err)
		}
	}
	if sealed < 8 {
		t.Errorf("only %d kinds have sealed fields: they are not looked at", sealed)
	}
}
