package storage

import (
	"fmt"
	"testing"
)

func TestARememberedRecordIsThatOfItsVersionAlone(t *testing.T) {
	m := newMemo(App.clone)
	m.put("a", 1, App{Name: "one"})
	if _, ok := m.get("a", 2); ok {
		t.Error("a record is remembered for a version it never had")
	}
	if _, ok := m.get("b", 0); ok {
		t.Error("a record that was never put is remembered")
	}
	m.put("a", 2, App{Name: "two"})
	if v, ok := m.get("a", 2); !ok || v.Name != "two" {
		t.Errorf("get(a, 2) = %q, %t, want two", v.Name, ok)
	}
	if _, ok := m.get("a", 1); ok {
		t.Error("the older version is still remembered")
	}
}

func TestReturnedRecordsMayBeChanged(t *testing.T) {
	m := newMemo(App.clone)
	in := App{Domains: []string{"a"}, RedirectURIs: []string{"a"}, Secrets: []AppSecret{{Secret: NewSecret("a")}}}
	m.put("a", 1, in)
	in.Domains[0], in.RedirectURIs[0], in.Secrets[0] = "b", "b", AppSecret{}
	for range 2 {
		v, _ := m.get("a", 1)
		if v.Domains[0] != "a" || v.RedirectURIs[0] != "a" || !v.Secrets[0].Secret.Equal("a") {
			t.Fatalf("get = %+v, want what was put", v)
		}
		v.Domains[0], v.RedirectURIs[0], v.Secrets[0] = "c", "c", AppSecret{}
	}
}

func TestTheMemoIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	m := newMemo(User.clone)
	m.put("used", 1, User{Name: "used"})
	for i := range 10 * maxMemorized {
		m.put(fmt.Sprint(i), 1, User{})
		if v, ok := m.get("used", 1); !ok || v.Name != "used" {
			t.Fatalf("the record in use is forgotten after %d others", i)
		}
	}
	if n := m.known.Len(); n > maxMemorized {
		t.Errorf("%d records are remembered, want at most %d", n, maxMemorized)
	}
}
