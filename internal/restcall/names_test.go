package restcall

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// safe is the schema of an argument that may only be "safe".
const safe = `{"enum":["safe"]}`

func TestMemberOfAnObjectIsNoOtherArgument(t *testing.T) {
	const form, parts = "application/x-www-form-urlencoded", "multipart/form-data"
	spread := toolplan.Param{Name: "filter", In: "query", Explode: true}
	spreadField := toolplan.Field{Name: "filter", Style: "form", Explode: true}
	queryMode, fieldMode := arg{safe, queryArg("mode")}, arg{safe, fieldArg("mode")}
	matrix := func(name string) toolplan.Param {
		return toolplan.Param{Name: name, In: "path", Style: "matrix", Explode: true}
	}
	cookie := func(name string) toolplan.Param { return toolplan.Param{Name: name, In: "cookie", Explode: true} }
	for name, c := range map[string]struct {
		contentType string
		filter      any
		mode        arg
	}{
		"query":                        {"", spread, queryMode},
		"query and form":               {form, spread, fieldMode},
		"form":                         {form, spreadField, fieldMode},
		"form and query":               {form, spreadField, queryMode},
		"parts":                        {parts, spreadField, fieldMode},
		"parts and query":              {parts, spreadField, queryMode},
		"a whole form and a query":     {form, whole{}, queryMode},
		"cookies":                      {"", cookie("filter"), arg{safe, cookie("mode")}},
		"a path":                       {"", matrix("filter"), arg{safe, matrix("mode")}},
		"a member of another object":   {"", spread, arg{`{"type":"object","properties":{"mode":` + safe + `}}`, queryArg("o")}},
		"a choice of another object":   {"", spread, arg{`{"anyOf":[{"properties":{"mode":` + safe + `}}]}`, queryArg("o")}},
		"an object below its own name": {"", spread, arg{`{"type":"object","properties":{"x":` + safe + `}}`, toolplan.Param{Name: "mode", In: "query", Style: "deepObject", Explode: true}}},
	} {
		template := "/a"
		if p, ok := c.filter.(toolplan.Param); ok && p.In == "path" {
			template = "/a/{filter}/b/{mode}"
		}
		op := tool("post", template, c.contentType, []string{"filter", "mode"}, map[string]arg{"filter": {`{"type":"object"}`, c.filter}, "mode": c.mode})
		for _, as := range []string{
			"mode", "MODE", "Mode", "m%6Fde", "m%256fde", " mode", "mode ", "mo-de", "mo_de", "mode.", "mode[x]", "mode.x",
			"mode[", "mode[]", "mode[][y]", "ｍode", "mo\u200bde", "mode%5Bx%5D",
		} {
			arguments, _ := json.Marshal(map[string]any{"filter": map[string]string{as: "danger"}})
			if template != "/a" {
				arguments, _ = json.Marshal(map[string]any{"filter": map[string]string{as: "danger"}, "mode": "safe"})
			}
			r, err := build(t, op, string(arguments))
			if err == nil || !strings.Contains(err.Error(), `argument "filter" must not `) {
				t.Errorf("%s: a member %q: %v, %v, want a refusal", name, as, r, err)
			}
		}
		arguments := `{"filter":{"model":"x","x":{"mode":"y"}},"mode":null}`
		if template != "/a" {
			arguments = `{"filter":{"model":"x"},"mode":"safe"}`
		}
		if _, err := build(t, op, arguments); err != nil {
			t.Errorf("%s: other members: %v, want them sent", name, err)
		}
	}
}

func TestMemberBelowANameIsNoArgumentOfThatName(t *testing.T) {
	deep := toolplan.Param{Name: "filter", In: "query", Style: "deepObject", Explode: true}
	op := tool("get", "/a", "", []string{"filter", "mode", "size"},
		map[string]arg{"filter": {"{}", deep}, "mode": {safe, queryArg("filter[mode]")},
			"size": {"{}", queryArg("filter[page][size]")}})
	for arguments, want := range map[string]string{
		`{"filter":{"mode":"danger"}}`:              `argument "filter" must not have the member "filter[mode]"`,
		`{"filter":{"MODE":{"x":"danger"}}}`:        `argument "filter" must not have the member "filter[MODE][x]"`,
		`{"filter":{"page":"danger"}}`:              `argument "filter" must not have the member "filter[page]"`,
		`{"filter":{"a][mode":"danger"}}`:           "no member with [ or ]",
		`{"filter":"all"}`:                          "/a?filter=all",
		`{"filter":{"other":"x"},"mode":"safe"}`:    "/a?filter%5Bother%5D=x&filter%5Bmode%5D=safe",
		`{"filter":{"page":{"at":1}},"size":["1"]}`: "/a?filter%5Bpage%5D%5Bat%5D=1&filter%5Bpage%5D%5Bsize%5D=1",
	} {
		if got := target(t, op, arguments); !strings.Contains(got, want) {
			t.Errorf("%s = %s, want %s", arguments, got, want)
		}
	}
}

func TestMemberIsNothingThatTheUpstreamFixes(t *testing.T) {
	key := Upstream{BaseURL: "https://a?tenant=7", AuthType: "api_key", AuthIn: "query", AuthName: "api_key",
		Secret: storage.NewSecret("S")}
	op := one("get", "/a?version=2", "", `{"type":"object"}`, queryArg("o"))
	for _, member := range []string{"Tenant", "tenant[]", "VERSION", "apiKey", "api.key"} {
		if r, err := compile(t, op).Build(key, raw(`{"x":{"`+member+`":"1"}}`)); err == nil {
			t.Errorf("a member %q: %v, want a refusal", member, r.url.String())
		}
	}
	declared := tool("get", "/a", "", []string{"k", "t"}, map[string]arg{"k": {"{}", queryArg("apikey")},
		"t": {"{}", queryArg("TENANT")}})
	if r, err := compile(t, declared).Build(key, raw(`{"k":"stolen"}`)); err != nil || r.url.RawQuery != "tenant=7&api_key=S" {
		t.Errorf("an argument like the credential: %v, %v, want the credential alone", r, err)
	}
	if _, err := compile(t, declared).Build(key, raw(`{"t":"8"}`)); err == nil || !strings.Contains(err.Error(), "the tool's upstream fixes it") {
		t.Errorf("an argument like a fixed name: %v, want a refusal", err)
	}
	key.AuthIn, key.AuthName = "header", "X-Api-Key"
	header := one("get", "/a", "", "{}", headerArg("X_Api.Key"))
	if r, err := compile(t, header).Build(key, raw(`{"x":"stolen"}`)); err != nil || len(r.header["X_api.key"]) > 0 || r.header.Get("X-Api-Key") != "S" {
		t.Errorf("a header like the credential: %v, %v, want the credential alone", r.header, err)
	}
	for _, name := range []string{"X_Forwarded_For", "X.Forwarded-For", "Content_Length", "Proxy_X", "X!Real!Ip"} {
		if !Reserved(name) {
			t.Errorf("Reserved(%q) = false, want true", name)
		}
	}
}

func TestObjectsMustNotSetTheSameName(t *testing.T) {
	op := tool("post", "/a", "application/x-www-form-urlencoded", []string{"a", "b"},
		map[string]arg{"a": {"{}", queryArg("a")}, "b": {"{}", toolplan.Field{Name: "b", Style: "form", Explode: true}}})
	if _, err := build(t, op, `{"a":{"k":"1"},"b":{"K[x]":"2"}}`); err == nil || !strings.Contains(err.Error(), `argument "b" must not have the member "K[x]", which is for the argument "a"`) {
		t.Errorf("two members of one name: %v, want a refusal", err)
	}
	if _, err := build(t, op, `{"a":{"k":"1"},"b":{"l":"2"}}`); err != nil {
		t.Errorf("two members of two names: %v, want them sent", err)
	}
}

func TestMemberBesideTheFieldsOfABodyIsNoneOfThem(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data"} {
		op := tool("post", "/a", contentType, []string{"page_size", "more", "q"},
			map[string]arg{"page_size": {safe, fieldArg("page_size")}, "more": {"{}", nil}, "q": {safe, queryArg("mode")}})
		op.Call.Body.More = "more"
		members := []string{"page_size", "pageSize", "PAGE_SIZE"}
		if contentType != "application/json" {
			members = append(members, "mode", "Mode")
		}
		for _, member := range members {
			if _, err := build(t, op, `{"more":{"`+member+`":"danger"}}`); err == nil || !strings.Contains(err.Error(), `argument "more" must not have the member "`+member+`"`) {
				t.Errorf("%s: a member %q: %v, want a refusal", contentType, member, err)
			}
		}
		if _, err := build(t, op, `{"page_size":"safe","more":{"other":"x"},"q":"safe"}`); err != nil {
			t.Errorf("%s: another member: %v, want it sent", contentType, err)
		}
	}
}

// The separator of the members of an object must not be within one: it would make another member.
func TestPartOfAMemberIsNoMember(t *testing.T) {
	for _, c := range []struct {
		in, style   string
		explode     bool
		value, want string
	}{
		{"query", "form", false, `{"a":"1,mode,danger"}`, ""}, {"query", "form", false, `["a,b"]`, ""}, // encoded, unlike what separates them
		{"query", "spaceDelimited", false, `["a b"]`, `no " "`}, {"query", "pipeDelimited", false, `["a|b"]`, `no "|"`}, {"query", "pipeDelimited", false, `{"a":"1|mode|x"}`, `no "|"`}, {"query", "pipeDelimited", false, `["a b"]`, ""},
		{"path", "simple", true, `{"a=b":"c"}`, "= in its name"}, {"path", "label", true, `{"a":"1.mode=danger"}`, `no "."`},
		{"header", "simple", true, `{"a":"1,mode=danger"}`, `no ","`}, {"header", "simple", false, `{"a":"1"}`, ""},
		{"form", "tabDelimited", false, `["a\tb"]`, `no "\t"`}, {"form", "spaceDelimited", false, `["a b"]`, `no " "`}, {"parts", "form", false, `{"a":"1,mode,danger"}`, `no ","`},
	} {
		var place any = toolplan.Param{Name: "x", In: c.in, Style: c.style, Explode: c.explode}
		contentType := ""
		if contentType = map[string]string{"form": "application/x-www-form-urlencoded",
			"parts": "multipart/form-data"}[c.in]; contentType != "" {
			place = toolplan.Field{Name: "x", Style: c.style, Explode: c.explode}
		}
		op := one("post", map[bool]string{true: "/{x}", false: "/"}[c.in == "path"], contentType, "{}", place)
		_, err := build(t, op, `{"x":`+c.value+`}`)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s, explode %t, %s: %v, want %q", c.in, c.style, c.explode, c.value, err, c.want)
		}
	}
}
