package storage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

// fill puts something into each field that is written, down to the last list and object.
func fill(v reflect.Value, n *int) {
	*n++
	switch at := v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2031, 7, 1, 12, *n, 0, 0, time.UTC)))
		return
	case time.Duration:
		v.SetInt(int64(*n))
		return
	case json.RawMessage, storage.Secret:
		_ = at
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range 3 {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	}
}

// plant puts an unknown field into each object of a JSON value.
func plant(v any, n *int) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = plant(v[name], n)
		}
		*n++
		v["of_later"] = map[string]any{"n": json.Number(fmt.Sprint("1", *n, "000000000000000001")), "empty": nil}
		v["zero_of_later"] = false
	case []any:
		for i := range v {
			v[i] = plant(v[i], n)
		}
	}
	return v
}

func parsed(t *testing.T, data []byte) (v any) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	if err := in.Decode(&v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

// later is a document as a newer version may write it: with a field more in each object, and
// with one more sealed text.
func later(t *testing.T, s *storage.Store, d driver.Doc) (driver.Doc, any) {
	t.Helper()
	record, line, _ := bytes.Cut(d.Data, []byte("\n"))
	planted := plant(parsed(t, record), new(int))
	sealed := map[string][]byte{}
	if line != nil {
		if err := json.Unmarshal(line, &sealed); err != nil {
			t.Fatal(err)
		}
	}
	sealed["of later"] = seal(t, s, "a secret of later", d, "of later")
	first, _ := json.Marshal(planted)
	second, _ := json.Marshal(sealed)
	d.Data = bytes.Join([][]byte{first, second}, []byte("\n"))
	return d, planted
}

func sealedOf(t *testing.T, d driver.Doc) (sealed map[string][]byte) {
	t.Helper()
	_, line, _ := bytes.Cut(d.Data, []byte("\n"))
	if err := json.Unmarshal(line, &sealed); err != nil {
		t.Fatalf("%s %q has no sealed texts: %v", d.Kind, d.ID, err)
	}
	return sealed
}

func filled(t *testing.T, s *storage.Store, k kind) driver.Doc {
	t.Helper()
	d, err := k.writeNew(s, func(record reflect.Value) { fill(record, new(int)) })
	if err != nil {
		t.Fatal(err)
	}
	d.Version = 7
	return d
}

func TestRewriteKeepsWhatANewerVersionHasWritten(t *testing.T) {
	s, _ := open(t)
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			before, planted := later(t, s, filled(t, s, k))
			after, err := k.rewrite(s, before, func(reflect.Value) {})
			if err != nil {
				t.Fatal(err)
			}
			record, _, _ := bytes.Cut(after.Data, []byte("\n"))
			if got := parsed(t, record); !reflect.DeepEqual(got, planted) {
				t.Errorf("it is written as\n%s, want\n%s", record, before.Data)
			}
			was, is := sealedOf(t, before), sealedOf(t, after)
			if len(is) != len(was) || !bytes.Equal(is["of later"], was["of later"]) {
				t.Errorf("the sealed texts are %q, want %q and the unknown one as it was", slices.Sorted(maps.Keys(is)),
					slices.Sorted(maps.Keys(was)))
			}
			again, err := k.rewrite(s, after, func(reflect.Value) {})
			if err != nil || !bytes.Equal(bytes.Split(again.Data, []byte("\n"))[0], record) {
				t.Errorf("written once more it is\n%s (%v), want\n%s", again.Data, err, record)
			}
		})
	}
}

// A field that this version empties does not come back because it had a value when it was read.
func TestKnownFieldHasTheValueOfThisVersion(t *testing.T) {
	s, _ := open(t)
	for name, k := range kinds() {
		before, _ := later(t, s, filled(t, s, k))
		var clean driver.Doc
		empty := func(v reflect.Value) {
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					v.Field(i).SetZero()
				}
			}
		}
		clean, err := k.writeNew(s, empty)
		if err != nil {
			t.Fatal(err)
		}
		after, err := k.rewrite(s, before, empty)
		if err != nil {
			t.Fatal(err)
		}
		record, _, _ := bytes.Cut(after.Data, []byte("\n"))
		got := parsed(t, record).(map[string]any)
		delete(got, "of_later")
		delete(got, "zero_of_later")
		record, _, _ = bytes.Cut(clean.Data, []byte("\n"))
		if want := parsed(t, record); !reflect.DeepEqual(any(got), want) {
			t.Errorf("%s: emptied it is written as %v, want %v", name, got, want)
		}
	}
}

// An item of a list that this version changes is another item: unknown fields of the one
// must not be in the other.
func TestChangedItemLosesTheUnknownFieldsOfTheOld(t *testing.T) {
	s, backend := open(t)
	if _, err := s.SaveCapability(t.Context(), storage.Capability{Member: "m"}, nil); err != nil {
		t.Fatal(err)
	}
	l, err := s.SaveAccess(t.Context(), access.List{Member: "m",
		Rules: []access.Rule{{Subject: "user:a"}, {Subject: "user:b"}}})
	if err != nil {
		t.Fatal(err)
	}
	d, _ := backend.Get(t.Context(), "access", "m")
	d.Data = bytes.Replace(d.Data, []byte(`{"subject":"user:a"`), []byte(`{"until":"2031","subject":"user:a"`), 1)
	if _, err := backend.Put(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if l, err = s.Access(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	l.Rules = []access.Rule{{Subject: "user:c"}, l.Rules[1], l.Rules[0]}
	if l, err = s.SaveAccess(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	d, _ = backend.Get(t.Context(), "access", "m")
	if want := `[{"subject":"user:c"},{"subject":"user:b"},{"subject":"user:a","until":"2031"}]`; !strings.Contains(string(d.Data), want) {
		t.Errorf("moved and joined by another it is %s, want %s", d.Data, want)
	}
	l.Rules[2].Deny = true
	if _, err := s.SaveAccess(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if d, _ = backend.Get(t.Context(), "access", "m"); bytes.Contains(d.Data, []byte("until")) {
		t.Errorf("a rule that was changed is %s", d.Data)
	}
}

// The document of the tools is made anew at each registration; what stands beside them stays.
func TestDocumentOfTheToolsKeepsItsUnknownFields(t *testing.T) {
	s, backend := open(t)
	c, err := s.SaveCapability(t.Context(), storage.Capability{Member: "m"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, _ := backend.Get(t.Context(), "toolset", "m")
	d.Data = bytes.Replace(d.Data, []byte("{"), []byte(`{"of_later":1,`), 1)
	one, _ := backend.Get(t.Context(), "capability", "m")
	if c.Version, err = backend.Put(t.Context(), d, one); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveCapability(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	if d, _ = backend.Get(t.Context(), "toolset", "m"); !bytes.Contains(d.Data, []byte(`"of_later":1`)) {
		t.Errorf("the document is %s, want its unknown field in it", d.Data)
	}
}
