package apidoc

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	cats = `{"openapi":"3.0.3","tags":[{"name":"cats"}],"paths":{"/cats":{"get":{"description":"<see> https://id.example.com/cats"}}},"components":{"schemas":{"Cat":{}}}}`
	dogs = `{"openapi":"3.0.3","tags":[{"name":"dogs"}],"paths":{"/dogs":{}},"components":{"schemas":{"Dog":{}},"callbacks":{"Bark":{}}}}`
)

func TestDocumentsOfPackagesAreMerged(t *testing.T) {
	both := Of([]byte(cats), []byte(dogs))
	raw, err := both.JSON("https://pets.example.net:8443")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		OpenAPI    string
		Servers    []struct{ URL string }
		Tags       []struct{ Name string }
		Paths      map[string]json.RawMessage
		Components map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.0.3" || len(doc.Paths) != 2 || len(doc.Tags) != 2 || doc.Tags[1].Name != "dogs" {
		t.Errorf("the document is %s", raw)
	}
	for kind, name := range map[string]string{"schemas": "Cat", "callbacks": "Bark", "securitySchemes": "bearer",
		"responses": "TooMany"} {
		if doc.Components[kind][name] == nil {
			t.Errorf("%s/%s is not in the document", kind, name)
		}
	}
	if len(doc.Servers) != 1 || doc.Servers[0].URL != "https://pets.example.net:8443" ||
		strings.Contains(string(raw), Example) {
		t.Errorf("it is not for its own origin: %s", raw)
	}
	if !strings.Contains(string(raw), "<see> https://pets.example.net:8443/cats") {
		t.Error("what a room says is not as it was written")
	}
}

func TestDocumentsAreValues(t *testing.T) {
	parts := [][]byte{[]byte(cats)}
	d := Of(parts...)
	parts[0] = []byte(dogs)
	if raw, err := d.JSON(Example); err != nil || strings.Contains(string(raw), "/dogs") {
		t.Errorf("a document changes with the list that it was made of: %v", err)
	}
}

func TestDocumentPartsThatConflictAreRefused(t *testing.T) {
	for name, parts := range map[string][2]string{
		"a path twice":      {cats, `{"openapi":"3.0.3","paths":{"/cats":{}}}`},
		"a component twice": {cats, `{"openapi":"3.0.3","paths":{},"components":{"schemas":{"Cat":{}}}}`},
		"one of the frame":  {cats, `{"openapi":"3.0.3","paths":{},"components":{"responses":{"TooMany":{}}}}`},
		"another version":   {cats, `{"openapi":"3.1.0","paths":{}}`},
		"a member too many": {cats, `{"openapi":"3.0.3","paths":{},"webhooks":{}}`},
		"no JSON":           {cats, `{`},
	} {
		if _, err := Of([]byte(parts[0]), []byte(parts[1])).JSON(Example); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

func TestDocumentIsServedWithItsETag(t *testing.T) {
	h := Of([]byte(cats)).Handler("https://pets.example.net")
	ask := func(method, path, etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("If-None-Match", etag)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	w := ask("GET", Path, "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || !json.Valid(w.Body.Bytes()) ||
		w.Header().Get("ETag") == "" {
		t.Fatalf("GET = %d %v", w.Code, w.Header())
	}
	if again := ask("GET", Path, w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("GET with the ETag = %d", again.Code)
	}
	if w := ask("HEAD", Path, ""); w.Code != 200 {
		t.Errorf("HEAD = %d", w.Code)
	}
	if w := ask("POST", Path, ""); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST = %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
	if w := ask("GET", "/other.json", ""); w.Code != 404 {
		t.Errorf("GET /other.json = %d", w.Code)
	}
}
