package mcpbus_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
)

func TestCursorIsANameOfAToolOrNothing(t *testing.T) {
	h := newFixture(t)
	for params, want := range map[string][]string{
		`{"cursor":""}`:               {"maths__add", "pets__addPet", "pets__dropPet", "pets__getPet"},
		`{"cursor":"pets__addPet"}`:   {"pets__dropPet", "pets__getPet"},
		`{"cursor":"pets__b-gone"}`:   {"pets__dropPet", "pets__getPet"},
		`{"cursor":"zzz__z"}`:         nil,
		`{"cursor":"pets__getPet"}`:   nil,
		`{"other":"pets__addPet"}`:    {"maths__add", "pets__addPet", "pets__dropPet", "pets__getPet"},
		`{"Cursor":"pets__dropPet"}`:  {"maths__add", "pets__addPet", "pets__dropPet", "pets__getPet"},
		`{"cursor":"0__-"}`:           {"maths__add", "pets__addPet", "pets__dropPet", "pets__getPet"},
		`{"cursor":"pets\u005f_add"}`: {"pets__addPet", "pets__dropPet", "pets__getPet"},
	} {
		if a := h.legacy("tools/list", params); a.status != 200 || !slices.Equal(a.names(), want) {
			t.Errorf("%s = %d %v, want %v", params, a.status, a.names(), want)
		}
	}
	for _, cursor := range []string{`1`, `null`, `["a"]`, `"a b"`, `"zzz"`, `"pets_addPet"`, `"__addPet"`, `"pets__"`, `"pets__*"`, `"pets__é"`, `"m__` + strings.Repeat("x", 62) + `"`, `"` + strings.Repeat("m", 49) + `__x"`, `"\u0000"`} {
		if a := h.legacy("tools/list", `{"cursor":`+cursor+`}`); a.status != 200 || a.code() != -32602 {
			t.Errorf("cursor %s = %d %s", cursor, a.status, a.text)
		}
		if a := h.modern("tools/list", `"cursor":`+cursor); a.status != 400 || a.code() != -32602 {
			t.Errorf("modern: cursor %s = %d %s", cursor, a.status, a.text)
		}
	}
}

func TestCursorOfABundleIsANameOfAToolToo(t *testing.T) {
	h := bundled(t)
	for cursor, want := range map[string][]string{"": {"maths__add", "pets__getPet"}, "maths__add": {"pets__getPet"},
		"maths__gone": {"pets__getPet"}, "other__x": {"pets__getPet"}} {
		if a := h.at(supportPath, "bundle", "tools/list", `{"cursor":"`+cursor+`"}`); a.code() != 0 || !slices.Equal(a.names(), want) {
			t.Errorf("after %q it finds %s, want %v", cursor, a.text, want)
		}
	}
	for _, cursor := range []string{"zzz", "support", "maths__", "tools:b:support"} {
		if a := h.at(supportPath, "bundle", "tools/list", `{"cursor":"`+cursor+`"}`); a.status != 200 || a.code() != -32602 {
			t.Errorf("cursor %q = %d %s", cursor, a.status, a.text)
		}
		r := request(t.Context(), modernBody("tools/list", `"cursor":"`+cursor+`"`), append(modernHeaders("tools/list", ""), "Authorization", "Bearer bundle")...)
		r.URL.Path = supportPath
		if a := send(h.bus, r); a.status != 400 || a.code() != -32602 {
			t.Errorf("modern: cursor %q = %d %s", cursor, a.status, a.text)
		}
	}
}

// A client that walks through pages goes on where it was, whatever was removed meanwhile.
func TestCursorOutlivesItsTool(t *testing.T) {
	h := emptyFixture(t)
	h.register(capability("m", "https://m.example.com"), rest("get", "a"), rest("get", "b"), rest("get", "c"))
	h.open(func(c *mcpbus.Config) { c.PageSize = 2 })
	cursor, _ := h.legacy("tools/list", "").at("result.nextCursor").(string)
	h.register(capability("m", "https://m.example.com"), rest("get", "a"), rest("get", "c"))
	h.reload()
	for name, a := range map[string]answer{"legacy": h.legacy("tools/list", `{"cursor":"`+cursor+`"}`), "modern": h.modern("tools/list", `"cursor":"`+cursor+`"`)} {
		if cursor != "m__b" || a.status != 200 || !slices.Equal(a.names(), []string{"m__c"}) {
			t.Errorf("%s: after %q comes %d %s", name, cursor, a.status, a.text)
		}
	}
}
