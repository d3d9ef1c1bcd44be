package lasthop

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
)

// send calls by a way, whatever comes of it.
func (h *service) send(way, bearer string) *httptest.ResponseRecorder {
	path, body := "/ai/get", ""
	if way != "ai" {
		path, body = "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+way+`","arguments":{}}}`
	}
	r := httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// spellings are those that some server or other reads as Keystile-Caller.
var spellings = []string{"Keystile-Caller", "keystile-caller", "KEYSTILE-CALLER", "Keystile_Caller", "keystile_caller",
	"KEYSTILE_CALLER", "Keystile.Caller", "keystile~caller", "Keystile!Caller", "Keystile#Caller", "Keystile$Caller",
	"Keystile%Caller", "Keystile&Caller", "Keystile'Caller", "Keystile*Caller", "Keystile+Caller", "Keystile^Caller",
	"Keystile`Caller", "Keystile|Caller", "kEYSTILE-cALLER", "Grpc-Metadata-Keystile-Caller", "Keystile-Caller-2"}

func TestClientsOwnStatementNeverArrives(t *testing.T) {
	for _, kind := range []string{"", lasthop.None, lasthop.Headers, lasthop.Signed, lasthop.Bearer} {
		h := start(t, lasthop.Identity{Kind: kind})
		forged := http.Header{"Connection": {"keystile-caller"}}
		for _, name := range spellings {
			forged[name] = []string{"forged", "forged"}
		}
		for _, way := range ways {
			if kind == lasthop.Bearer && way != "ai" {
				continue
			}
			got, _ := h.call(way, h.bearer("u1"), forged)
			for name, values := range got {
				if strings.Contains(strings.Join(values, " "), "forged") {
					t.Errorf("identity %q: by %s the upstream gets the client's own %s", kind, way, name)
				}
			}
			if kind == lasthop.Signed && (len(got[lasthop.Header]) != 1 || !strings.HasPrefix(got.Get(lasthop.Header), "ey")) {
				t.Errorf("by %s the upstream gets %q", way, got[lasthop.Header])
			}
		}
	}
}

// The document has such parameters: they are no arguments, and nothing else is a way around that.
func TestArgumentIsNoStatement(t *testing.T) {
	h := start(t, lasthop.Identity{})
	tools, forged := h.Bus.ToolsOf("shop"), storage.NewSecret("forged-forged")
	if len(tools) != 1 || strings.Contains(strings.ToLower(string(tools[0].InputSchema)), "caller") ||
		!strings.Contains(string(tools[0].InputSchema), "own") {
		t.Errorf("the tools are %v", tools)
	}
	for _, name := range spellings[:6] {
		if strings.ContainsAny(name, "%") {
			continue
		}
		for what, q := range map[string]registry.Request{
			"a credential": {AuthType: "api_key", AuthIn: "header", AuthName: name, AuthSecret: forged},
			"a header":     {Headers: map[string]storage.Secret{name: forged}},
		} {
			q.Member, q.UpstreamURL, q.OpenAPI = "other", h.up.URL, json.RawMessage(document)
			_, err := h.Registry.Register(t.Context(), administrator, q)
			if no := (*openapi.Rejection)(nil); !errors.As(err, &no) || no.Errcode != openapi.ErrcodeBadField {
				t.Errorf("%s named %s: %v, want a refusal", what, name, err)
			}
		}
	}
}

// A statement has a key of the service and its issuer, and is none of the other things that have these.
func TestStatementOpensNothingHere(t *testing.T) {
	h := start(t, lasthop.Identity{Kind: lasthop.Signed})
	got, _ := h.call("ai", h.bearer("u1"), nil)
	statement := got.Get(lasthop.Header)
	if _, err := h.callers().Verify(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	for _, audience := range []string{"", h.up.URL, base} {
		if caller, err := h.Tokens.Verify(t.Context(), statement, audience); err == nil {
			t.Errorf("for %q it is a token of %+v", audience, caller)
		}
	}
	for _, path := range []string{"/ai/get", "/api/v1/quota", "/api/v1/verify", "/oauth/userinfo", "/api/mcp"} {
		r := httptest.NewRequest(http.MethodGet, base+path, nil)
		r.Header.Set("Authorization", "Bearer "+statement)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			t.Errorf("with a statement %s is answered %d %s", path, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodPost, base+"/oauth/introspect", strings.NewReader("client_id="+h.app.ID+
		"&client_secret="+h.app.AppKey().Reveal()+"&token="+statement))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 200 || !strings.Contains(w.Body.String(), `"active":false`) {
		t.Errorf("introspection says %d %s", w.Code, w.Body)
	}
	forAPI := h.signed(func(c *token.Claims) { c.Audience = h.up.URL })
	if told, err := h.callers().Verify(t.Context(), forAPI); err == nil {
		t.Errorf("an access token for the upstream is a statement: %+v", told)
	}
}

// An upstream that believes headers believes them of everybody's capability, and would believe a token of every caller.
func TestOwnersHaveTheirUpstreamsToldByStatementsAlone(t *testing.T) {
	h := start(t, lasthop.Identity{})
	dev := storage.User{Sub: "u-dev", Role: storage.RoleDeveloper}
	q := registry.Request{Member: "mine", UpstreamURL: h.up.URL, OpenAPI: json.RawMessage(document)}
	update := registry.Forms{Registry: h.Registry}.UpdateBody
	for kind, may := range map[string]bool{lasthop.None: true, lasthop.Signed: true, lasthop.Headers: false,
		lasthop.Bearer: false, "jwt": false} {
		q.Identity.Kind = kind
		if _, err := h.Registry.Register(t.Context(), dev, q); (err == nil) != may {
			t.Errorf("an owner registers with identity %q: %v", kind, err)
		}
		if _, err := h.Registry.Preview(t.Context(), dev, q); (err == nil) != may {
			t.Errorf("an owner previews identity %q: %v", kind, err)
		}
		q.Identity.Kind = lasthop.None
		if _, err := h.Registry.Register(t.Context(), dev, q); err != nil {
			t.Fatal(err)
		}
		body := []byte(`{"identity":"` + kind + `"}`)
		if _, _, err := update(t.Context(), dev, "mine", body); (err == nil) != may {
			t.Errorf("an owner updates to identity %q: %v", kind, err)
		}
		if c, err := h.Store.Capability(t.Context(), "mine"); err != nil || !may && c.Identity != (lasthop.Identity{}) {
			t.Errorf("after identity %q it is %+v, %v", kind, c.Identity, err)
		}
		may = may || kind == lasthop.Headers
		if _, _, err := update(t.Context(), administrator, "mine", body); (err == nil) != may {
			t.Errorf("an administrator updates to identity %q: %v", kind, err)
		}
	}
}
