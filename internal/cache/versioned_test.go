package cache_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/keystile/keystile/internal/cache"
)

type record struct {
	Name string
	List []string
}

func (r record) clone() record {
	r.List = slices.Clone(r.List)
	return r
}

func TestRememberedRecordIsThatOfItsVersionAlone(t *testing.T) {
	m := cache.NewVersioned(record.clone)
	m.Put("a", 1, record{Name: "one"})
	if _, ok := m.Get("a", 2); ok {
		t.Error("a record is remembered for a version it never had")
	}
	if _, ok := m.Get("b", 0); ok {
		t.Error("a record that was never put is remembered")
	}
	m.Put("a", 2, record{Name: "two"})
	if v, ok := m.Get("a", 2); !ok || v.Name != "two" {
		t.Errorf("get(a, 2) = %q, %t, want two", v.Name, ok)
	}
	if _, ok := m.Get("a", 1); ok {
		t.Error("the older version is still remembered")
	}
}

func TestReturnedRecordsMayBeChanged(t *testing.T) {
	m := cache.NewVersioned(record.clone)
	in := record{List: []string{"a"}}
	m.Put("a", 1, in)
	in.List[0] = "b"
	for range 2 {
		v, _ := m.Get("a", 1)
		if v.List[0] != "a" {
			t.Fatalf("get = %+v, want what was put", v)
		}
		v.List[0] = "c"
	}
}

func TestMemoIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	m := cache.NewVersioned(record.clone)
	m.Put("used", 1, record{Name: "used"})
	for i := range 10 * cache.MaxVersioned {
		m.Put(fmt.Sprint(i), 1, record{})
		if v, ok := m.Get("used", 1); !ok || v.Name != "used" {
			t.Fatalf("the record in use is forgotten after %d others", i)
		}
	}
	if n := m.Len(); n > cache.MaxVersioned {
		t.Errorf("%d records are remembered, want at most %d", n, cache.MaxVersioned)
	}
}
