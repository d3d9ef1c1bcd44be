package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"mime/multipart"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

const importPath = "/console/capabilities/new"

// petstore is a document of 23,182 bytes with 19 operations, the size at which a form once lost it.
func petstore() string {
	paths := map[string]any{}
	for i := range 19 {
		paths[fmt.Sprintf("/pet/%d", i)] = map[string]any{"get": map[string]any{"operationId": fmt.Sprintf("getPet%d", i)}}
	}
	document := map[string]any{"openapi": "3.0.4", "info": map[string]any{"title": "Swagger Petstore - OpenAPI 3.0",
		"version": "1"}, "servers": []any{map[string]any{"url": "https://pets.example.com/api/v3"}}, "paths": paths}
	text, _ := json.Marshal(document)
	document["x-more"] = strings.Repeat("m", 23_182-len(text)-len(`"x-more":"",`))
	text, _ = json.Marshal(document)
	return string(text)
}

// named is a document of one operation.
func named(title, operation string) string {
	return `{"openapi":"3.1.0","info":{"title":"` + title + `","version":"1"},"servers":[{"url":"https://` + operation +
		`.example.com"}],"paths":{"/q":{"get":{"operationId":"` + operation + `"}}}}`
}

// importing is a form of a registration as a browser sends it.
func (h *fixture) importing(cookie string, fields url.Values, name, file string) *httptest.ResponseRecorder {
	h.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for field, values := range fields {
		for _, value := range values {
			form.WriteField(field, value)
		}
	}
	if name != "" {
		part := must(form.CreateFormFile("file", name))(h)
		part.Write([]byte(file))
	}
	form.Close()
	r := httptest.NewRequest("POST", base+importPath, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return h.browse(r, cookie)
}

var (
	inputs = regexp.MustCompile(`<input [^>]*>`)
	pair   = regexp.MustCompile(` (name|value|type)="([^"]*)"`)
)

// formOf returns what the form of a registration on a page would send, untouched.
func formOf(page, do string) url.Values {
	_, page, _ = strings.Cut(page, `class="import"`)
	form := url.Values{"do": {do}}
	for _, input := range inputs.FindAllString(page, -1) {
		is := map[string]string{}
		for _, m := range pair.FindAllStringSubmatch(input, -1) {
			is[m[1]] = html.UnescapeString(m[2])
		}
		if box := is["type"] == "checkbox" || is["type"] == "radio"; is["type"] != "file" &&
			(!box || strings.Contains(input, " checked")) {
			form.Add(is["name"], is["value"])
		}
	}
	return form
}

// tools returns the names of the stored tools of a capability.
func (h *fixture) tools(member string) (names []string) {
	_, all, _ := h.store.Tools(h.Context(), member)
	for _, one := range all {
		names = append(names, one.Name)
	}
	return names
}

func holds(t *testing.T, what, page string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want) {
			t.Errorf("%s lacks %q: %.6000s", what, want, page)
		}
	}
}

func TestDocumentThatWasPreviewedIsRegistered(t *testing.T) {
	s := newScene(t)
	dev, document := s.who["developer"], petstore()
	if len(document) != 23_182 {
		t.Fatalf("the document has %d bytes", len(document))
	}
	page := s.importing(dev.cookie, formOf(s.open(importPath, dev.cookie).Body.String(), "preview"), "petstore.json",
		document).Body.String()
	holds(t, "the preview", page, "petstore.json</bdi>, 23 KB, 19 tools", "Register these 19 tools",
		`value="petstore"`, `value="https://pets.example.com/api/v3"`, "Calls go to")
	if names := s.tools("petstore"); names != nil {
		t.Fatalf("the preview has stored %q", names)
	}
	w := s.importing(dev.cookie, formOf(page, "register"), "", "")
	holds(t, "the page after it", w.Body.String(), `class="notice" role="status"><p>The API is registered with 19 tools.`)
	c, err := s.store.Capability(t.Context(), "petstore")
	if err != nil || c.Kind != storage.CapabilityREST || len(s.tools("petstore")) != 19 {
		t.Fatalf("stored is %+v, %v with %d tools", c, err, len(s.tools("petstore")))
	}

	again := s.open(importPath+"?member=petstore", dev.cookie).Body.String()
	w = s.importing(dev.cookie, formOf(again, "register"), "", "")
	if holds(t, "a registration without a document", w.Body.String(), "Choose an OpenAPI document",
		`name="file" aria-invalid="true"`); w.Code != 400 || len(s.tools("petstore")) != 19 {
		t.Errorf("without a document it is %d, and %d tools are left", w.Code, len(s.tools("petstore")))
	}
}

func TestPreviewIsThereAfterAReload(t *testing.T) {
	s := newScene(t)
	dev := s.who["developer"]
	form := formOf(s.open(importPath, dev.cookie).Body.String(), "preview")
	page := s.importing(dev.cookie, form, "a.json", named("Alpha", "one")).Body.String()
	slot, _, _ := strings.Cut(formOf(page, "")["kept"][0], ".")
	for range 2 {
		again := s.open(importPath+"?form="+slot+"&shown=once", dev.cookie).Body.String()
		if again != page {
			t.Errorf("it is another page: %.3000s", again)
		}
	}
	other := s.open(importPath+"?form="+slot+"&shown=once", s.who["newcomer"].cookie).Body.String()
	if strings.Contains(other, "a.json") {
		t.Error("another user is shown the preview")
	}
}

func TestTextOfAnySizeIsKeptAndTypedFieldsSurviveAnError(t *testing.T) {
	s := newScene(t)
	dev := s.who["developer"]
	long := strings.Replace(petstore(), "mmm", strings.Repeat("m", 400_000), 1)
	form := formOf(s.open(importPath, dev.cookie).Body.String(), "preview")
	for field, text := range map[string]string{"document": long, "member": "-bad", "label": "Our pets",
		"description": "All of them", "auth_type": "bearer", "auth_secret": "typed-secret", "timeout": "77"} {
		form.Set(field, text)
	}
	w := s.importing(dev.cookie, form, "", "")
	page := w.Body.String()
	if holds(t, "the refused form", page, "Name has 1 to 48 letters", `name="member" aria-invalid="true"`, "Our pets",
		"All of them", `value="77"`, "Pasted text</bdi>, 423 KB", `value="bearer" selected`,
		"It is not kept by the preview"); w.Code != 400 || strings.Contains(page, "typed-secret") || len(page) > 60<<10 {
		t.Errorf("it is %d, with %d bytes", w.Code, len(page))
	}
	form = formOf(page, "preview")
	form.Set("member", "pets")
	page = s.importing(dev.cookie, form, "", "").Body.String()
	holds(t, "the preview", page, "Register these 19 tools", "Pasted text</bdi>, 423 KB, 19 tools")

	form = formOf(page, "register") // a conflict: somebody else has the name
	form.Set("member", s.own[""]["member"])
	w = s.importing(dev.cookie, form, "", "")
	if holds(t, "a conflict", w.Body.String(), "Pasted text</bdi>, 423 KB", "Our pets"); w.Code != 409 {
		t.Errorf("a name that somebody else has is %d", w.Code)
	}
	form = formOf(w.Body.String(), "register")
	form.Set("member", "pets")
	if w := s.importing(dev.cookie, form, "", ""); len(s.tools("pets")) != 19 {
		t.Errorf("the rest was not registered: %d %.3000s", w.Code, w.Body)
	}
}

func TestAnotherDocumentIsLookedAtBeforeItIsRegistered(t *testing.T) {
	s := newScene(t)
	dev := s.who["developer"]
	form := formOf(s.open(importPath, dev.cookie).Body.String(), "preview")
	page := s.importing(dev.cookie, form, "a.json", named("Alpha", "one")).Body.String()
	w := s.importing(dev.cookie, formOf(page, "register"), "b.json", named("Beta", "two"))
	if holds(t, "another document", w.Body.String(), "This is another document", "b.json</bdi>"); w.Code != 400 ||
		s.tools("alpha") != nil {
		t.Errorf("another document is %d, and %q", w.Code, s.tools("alpha"))
	}
	s.importing(dev.cookie, formOf(w.Body.String(), "register"), "", "")
	if got := s.tools("alpha"); len(got) != 1 || got[0] != "two" {
		t.Errorf("registered is %q", got)
	}
}

// Eight tabs do not disturb each other. A ninth takes the place of the first, which says so.
func TestEachTabRegistersTheDocumentThatItShows(t *testing.T) {
	s := newScene(t)
	dev := s.who["developer"]
	var pages []string
	for i := range 9 {
		form := formOf(s.open(importPath, dev.cookie).Body.String(), "preview")
		pages = append(pages, s.importing(dev.cookie, form, fmt.Sprintf("%d.json", i),
			named(fmt.Sprintf("Shop%c", 'a'+i), fmt.Sprintf("tool%d", i))).Body.String())
	}
	gone := 0
	for i, page := range pages {
		member := fmt.Sprintf("shop%c", 'a'+i)
		w := s.importing(dev.cookie, formOf(page, "register"), "", "")
		names := s.tools(member)
		if len(names) == 1 && names[0] == fmt.Sprintf("tool%d", i) {
			continue
		}
		if gone++; names != nil || w.Code != 400 || !strings.Contains(w.Body.String(), "The document is no longer kept") {
			t.Errorf("tab %d has %q: %d %.2000s", i, names, w.Code, w.Body)
		}
	}
	if gone != 1 {
		t.Errorf("%d of nine tabs have lost their document, want one", gone)
	}
}

func TestDocumentIsForTheUserWhoseFormNamesIt(t *testing.T) {
	s := newScene(t)
	dev, other := s.who["developer"], s.who["admin"]
	form := formOf(s.open(importPath, dev.cookie).Body.String(), "preview")
	page := s.importing(dev.cookie, form, "a.json", named("Alpha", "one")).Body.String()
	ref := formOf(page, "")["kept"][0]
	slot, secret, _ := strings.Cut(ref, ".")
	for name, kept := range map[string]string{"another user's": ref, "no slot": "9." + secret, "below": "-1." + secret,
		"no secret": slot + ".", "no number": "x." + secret, "nothing": ".", "long": slot + "." + strings.Repeat("x", 1<<16),
		"script": `0."><script>alert(1)</script>`, "null": "0.\x00", "another secret": slot + ".AAAA"} {
		form := formOf(s.open(importPath, other.cookie).Body.String(), "register")
		form.Set("kept", kept)
		form.Set("member", "stolen")
		form.Set("upstream_url", "https://up.example.com")
		w := s.importing(other.cookie, form, "", "")
		if w.Code != 400 || s.tools("stolen") != nil || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%s: %d, %q", name, w.Code, s.tools("stolen"))
		}
	}
	s.importing(dev.cookie, formOf(page, "register"), "", "")
	if got := s.tools("alpha"); len(got) != 1 {
		t.Errorf("its own user has registered %q", got)
	}
}

func TestDocumentSaysWhereCallsGoAndItsReaderAgrees(t *testing.T) {
	s := newScene(t)
	dev := s.who["developer"]
	form := formOf(s.open(importPath, dev.cookie).Body.String(), "register")
	w := s.importing(dev.cookie, form, "a.json", named("Alpha", "one"))
	if holds(t, "without a look", w.Body.String(), `value="alpha"`, `value="https://one.example.com"`,
		"check them, then register"); w.Code != 400 || s.tools("alpha") != nil {
		t.Errorf("a document has decided where calls go: %d", w.Code)
	}
	s.importing(dev.cookie, formOf(w.Body.String(), "register"), "", "")
	if len(s.tools("alpha")) != 1 {
		t.Error("after a look it is not registered")
	}
	form = formOf(s.open(importPath, dev.cookie).Body.String(), "preview")
	page := s.importing(dev.cookie, form, "a.json", named("Alpha", "two")).Body.String()
	holds(t, "a second one of that name", page, `value="alpha-2"`)
	form = formOf(s.open(importPath, dev.cookie).Body.String(), "register")
	w = s.importing(dev.cookie, form, "a.json", strings.Replace(named("Gamma", "x"), "https://x.example.com", "/v1", 1))
	holds(t, "a relative server", w.Body.String(), "the document names no server",
		`name="upstream_url" aria-invalid="true"`, "a.json</bdi>")
}

func TestRegistrationWithoutToolsIsAmber(t *testing.T) {
	s := newScene(t)
	dev := s.who["developer"]
	form := formOf(s.open(importPath, dev.cookie).Body.String(), "register")
	form.Set("source", "mcp")
	form.Set("member", "agents")
	form.Set("upstream_url", "https://mcp.example.com/mcp")
	page := s.importing(dev.cookie, form, "", "").Body.String()
	holds(t, "a registration without tools", page,
		`<div class="warn" role="status"><p>The API is registered, and has no tools.`,
		"<li><code>the upstream has not told its tools yet")
	if c, err := s.store.Capability(t.Context(), "agents"); err != nil || c.Kind != storage.CapabilityMCP {
		t.Errorf("stored is %+v, %v", c, err)
	}
	form = formOf(s.open(importPath+"?member=agents", dev.cookie).Body.String(), "register")
	if form.Get("source") != "mcp" {
		t.Errorf("the form of an MCP endpoint begins with %q", form["source"])
	}
	w := s.importing(dev.cookie, form, "a.json", named("Alpha", "one"))
	holds(t, "an MCP endpoint with a document", w.Body.String(), "An MCP endpoint takes no document")
	form.Set("form", formOf(s.open(importPath, dev.cookie).Body.String(), "")["form"][0])
	form.Set("document", "{}")
	form.Set("source", "document")
	w = s.importing(dev.cookie, form, "a.json", named("Alpha", "one"))
	holds(t, "two documents", w.Body.String(), "Choose one document")
}

func TestProblemOfAnImportIsTranslated(t *testing.T) {
	s := newScene(t)
	dev := s.who["developer"]
	for field, c := range map[string][2]string{
		"member": {"a b", "名称由 1 到 48 个"}, "upstream_url": {"ftp://x", "上游 URL 须以"}, "timeout": {"soon", "1 到 600"},
		"webhook_url": {"nowhere", "Webhook URL 须以"}, "document_url": {"file:///etc/passwd", "文档的 URL 须以"},
	} {
		form := formOf(s.open(importPath, dev.cookie).Body.String(), "preview")
		form.Set(field, c[0])
		file := "a.json"
		if field == "document_url" {
			file = ""
		}
		cookie := dev.cookie + "; keystile_lang=zh-CN"
		w := s.importing(cookie, form, file, named("Alpha", "one"))
		if holds(t, field, w.Body.String(), c[1], `name="`+field+`" aria-invalid="true"`); w.Code != 400 {
			t.Errorf("%s = %q is %d", field, c[0], w.Code)
		}
	}
}

func TestSampleIsOfferedWhereItCanBeCalled(t *testing.T) {
	s := newScene(t)
	dev := s.who["developer"]
	take := func(h *fixture, cookie string) *httptest.ResponseRecorder {
		form := formOf(h.open(importPath, cookie).Body.String(), "preview")
		return h.send(importPath+"?sample=1", cookie, form)
	}
	page := take(s.fixture, dev.cookie).Body.String()
	holds(t, "the sample", page, "sample.json</bdi>", "Register these 3 tools", `value="sample-bookshop"`,
		`value="https://sample.keystile.internal"`)
	s.importing(dev.cookie, formOf(page, "register"), "", "")
	if got := s.tools("sample-bookshop"); len(got) != 3 {
		t.Errorf("registered is %q", got)
	}
	h, _, dev := shopFixture(t) // a host without it
	w := take(h, dev.cookie)
	if holds(t, "a host without it", w.Body.String(), "There is no sample here."); w.Code != 400 {
		t.Errorf("without one it is %d", w.Code)
	}
}
