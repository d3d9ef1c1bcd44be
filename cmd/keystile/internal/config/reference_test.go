package config

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReferenceHasAnItemForEachKey(t *testing.T) {
	var out strings.Builder
	if err := Reference(&out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line) - 1; n > referenceWidth && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("%d characters, at most %d: %s", n, referenceWidth, line)
		}
	}
	items := strings.Split(strings.TrimPrefix(out.String(), "  - "), "\n  - ")
	if len(items) != len(keys) {
		t.Fatalf("%d items for %d keys", len(items), len(keys))
	}
	for i, k := range keys {
		item := strings.Join(strings.Fields(items[i]), " ")
		if k.kind == "" || !strings.HasPrefix(item, k.name+" ("+k.kind) || !strings.Contains(item, "): "+k.help) ||
			!strings.Contains(item, k.fallback) {
			t.Errorf("%s: %s", k.name, item)
		}
	}
	if want := "  - lifetimes.code (duration, default 5m, protocol 8): how long an authorization code is " +
		"valid\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no item %q in\n%s", want, out.String())
	}
}

func TestReferenceSaysWhereAKeyMayNotBeGiven(t *testing.T) {
	var list, object strings.Builder
	if err := Reference(&list); err != nil {
		t.Fatal(err)
	}
	if err := ReferenceJSON(&object); err != nil {
		t.Fatal(err)
	}
	var entries []map[string]any
	if err := json.Unmarshal([]byte(object.String()), &entries); err != nil || len(entries) != len(keys) {
		t.Fatalf("%d entries for %d keys: %v", len(entries), len(keys), err)
	}
	said := strings.Join(strings.Fields(list.String()), " ")
	for i, k := range keys {
		e := entries[i]
		if _, flag := e["flag"]; e["key"] != k.name || e["in_file"] != k.in(inFile) || flag != k.in(inFlag) ||
			e["secret"] != k.secret {
			t.Errorf("%s: %v", k.name, e)
		}
		if where := k.where(); where != "" && !strings.Contains(said, k.help+where) {
			t.Errorf("%s: the list does not say%s", k.name, where)
		}
	}
}
