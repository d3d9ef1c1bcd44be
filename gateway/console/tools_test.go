package console_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// shop is a Registry and a Bus of one tool, whose answers are hostileText.
type shop struct {
	console.Registry
	caller    storage.Caller
	arguments string
	previewed string
	busy      error // of BeginReading
	acts      []string
}

func (*shop) WhyUnlisted(string) string { return "" }

func (s *shop) BeginReading(ctx context.Context, _ string) (context.Context, func(), error) {
	return ctx, func() {}, s.busy
}

func (s *shop) PreviewBody(_ context.Context, _ storage.User, body []byte) (storage.Capability, []toolplan.Tool,
	[]string, error) {
	s.previewed = string(body)
	return storage.Capability{}, []toolplan.Tool{{Name: "other", Description: hostileText, InputSchema: json.RawMessage(`{"type":"object"}`)}}, []string{hostileText}, nil
}

func (*shop) ToolsOf(string) []toolplan.Tool { return nil }

func (s *shop) CallFor(_ *http.Request, caller storage.Caller, name string,
	arguments json.RawMessage) (json.RawMessage, error) {
	s.caller, s.arguments = caller, name+" "+string(arguments)
	deep := strings.Repeat(`{"__proto__":`, 90) + "1" + strings.Repeat("}", 90)
	return json.RawMessage(`{"content":[{"type":"text","text":"<script>alert(1)</script>` + strings.Repeat(`'`, 1<<20) + `"}],"structuredContent":` + deep + `,"isError":true}`), nil
}

func (*shop) OpenToAll() bool { return true }

func (*shop) OpenedBySetting() string { return storage.AccessAuto }

func (*shop) Reload(context.Context) error { return nil }

func (*shop) Unlisted(n int) ([]string, int) {
	return []string{"shop__a", "shop__b", "shop__" + hostile}[:min(n, 3)], 7
}

// Sees judges as if a rule denied one tool and the default allowed another.
func (*shop) Explain(_ context.Context, v access.Viewer, after string, n int) ([]access.Verdict, string, error) {
	return []access.Verdict{
		{Tool: "shop__getPet", Rule: &access.Rule{Subject: "user:" + v.User, Deny: true, Tools: []string{"getPet"}}},
		{Tool: "shop__list", Allowed: true, Because: "the default: everyone"},
	}, "", nil
}

const hostileText = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`

const petSchema = `{"type":"object","required":["id"],"properties":{"id":{"type":"integer","description":"<script>alert(1)</script>"},"name":{"type":"string"},"kind":{"enum":["cat","dog"]},"at":{"type":"object","properties":{"city":{"type":"string"}}},"tags":{"type":"array","items":{"type":"string"}}}}`

func shopFixture(t *testing.T) (*fixture, *shop, testUser) {
	s := new(shop)
	h := newFixture(t, func(c *console.Config) { c.Registry, c.Bus = s, s })
	dev := h.testUser("dev", storage.RoleDeveloper)
	h.sells(dev.Sub)
	return h, s, dev
}

// sells makes the capability shop of an owner, with one tool.
func (h *fixture) sells(owner string) {
	must(h.store.SaveCapability(h.Context(), storage.Capability{
		Member: "shop", Label: hostileText, Kind: storage.CapabilityREST, UpstreamURL: "https://up.example.com",
		Publish: true, Owner: owner, ToolCount: 1, AuthType: "bearer", AuthSecret: storage.NewSecret("hush-hush"),
	}, []toolplan.Tool{{Name: "getPet", Method: "get", Path: "/p", Description: hostileText,
		InputSchema: json.RawMessage(petSchema), Call: &toolplan.Call{Template: "/p"}}}))(h)
}

// gaveUp returns the id of a delivery of shop's that was given up.
func (h *fixture) gaveUp() string {
	c, tools, err := h.store.Tools(h.Context(), "shop")
	if err != nil {
		h.Fatal(err)
	}
	must(h.store.SaveCapability(h.Context(), c, tools, storage.Delivery{Event: "tools.changed",
		URL: "https://hook.example.com/", Payload: []byte("{}")}))(h)
	d := must(h.store.Deliveries(h.Context(), "shop"))(h)[0]
	d.GivenUpAt, d.Attempts, d.LastError = time.Now(), 9, hostileText
	return must(h.store.SaveDelivery(h.Context(), d))(h).ID
}

// ruled makes the capability office, of nobody, and returns the id of its one rule.
func (h *fixture) ruled() string {
	must(h.store.SaveCapability(h.Context(), storage.Capability{Member: "office", Kind: storage.CapabilityREST,
		UpstreamURL: "https://up.example.com", Publish: true}, nil))(h)
	must(h.store.SaveAccess(h.Context(), access.List{Member: "office", Rules: []access.Rule{{Subject: "everyone"}}}))(h)
	sum := sha256.Sum256([]byte(`["everyone",false,null,false]`))
	return hex.EncodeToString(sum[:10])
}

func TestToolIsTriedByItsOwnerAndChargedToThem(t *testing.T) {
	h, s, dev := shopFixture(t)
	const path = "/console/capabilities/shop/tools/getPet"
	form := url.Values{"do": {"call"}, "form": {h.formOn(h.open(path, dev.cookie))}, "a.0": {"7"}, "a.2": {`"dog"`}, "a.3.0": {"Oslo"}, "a.4": {`["x"]`}}
	w := h.send(path, dev.cookie, form)
	if want := `shop__getPet {"id":7,"kind":"dog","at":{"city":"Oslo"},"tags":["x"]}`; w.Code != 200 || s.arguments != want {
		t.Fatalf("the tool was called with %s and the page is %d %.400s, want %s", s.arguments, w.Code, w.Body, want)
	}
	if s.caller.AppID != storage.ConsoleAppID || s.caller.UserID != dev.Sub {
		t.Errorf("the call is charged to %+v", s.caller)
	}
	page := w.Body.String()
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "hush") || len(page) > 60<<10 || !strings.Contains(page, `role="alert"`) {
		t.Errorf("the page of %d bytes shows the answer as %.3000s", len(page), page)
	}
	if w := h.send(path, dev.cookie, form); w.Code != 409 {
		t.Errorf("the same form again is %d", w.Code)
	}
}

// unread is the body of a form that must not be read.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.Error("the form was read")
	return 0, io.EOF
}

func TestFormWithADocumentIsReadInItsTurn(t *testing.T) {
	h, s, dev := shopFixture(t)
	s.busy = &reply.Failure{Status: 429, Msg: "wait until the first is read", Header: http.Header{"Retry-After": {"10"}}}
	r := httptest.NewRequest(http.MethodPost, base+"/console/capabilities/new", unread{t})
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	if w := h.browse(r, dev.cookie); w.Code != 429 || w.Header().Get("Retry-After") != "10" ||
		!strings.Contains(w.Body.String(), "wait until the first is read") {
		t.Errorf("out of turn = %d %v %.300s, want 429", w.Code, w.Header(), w.Body)
	}
}

func TestCapabilitiesAreShownToTheirOwnersAndAdministrators(t *testing.T) {
	h, _, dev := shopFixture(t)
	root, other := h.testUser("root", storage.RoleAdmin), h.testUser("other", storage.RoleDeveloper)
	for _, path := range []string{"", "/new", "/new?member=shop", "/shop", "/shop/deliveries", "/shop/tools/getPet"} {
		path = "/console/capabilities" + path
		for _, u := range []testUser{dev, root} {
			if w := h.open(path, u.cookie); w.Code != 200 || strings.Contains(w.Body.String(), "<script>alert") ||
				strings.Contains(w.Body.String(), "hush") || w.Body.Len() > 60<<10 {
				t.Errorf("%s is %d %s", path, w.Code, w.Body)
			}
		}
		if strings.Contains(path, "shop") {
			if w := h.open(path, other.cookie); w.Code != 404 {
				t.Errorf("another developer sees %s: %d", path, w.Code)
			}
		}
	}
}

func TestPreviewNamesTheDifferenceAndStoresNothing(t *testing.T) {
	h, _, dev := shopFixture(t)
	const path = "/console/capabilities/new"
	w := h.send(path, dev.cookie, url.Values{"do": {"preview"}, "form": {h.formOn(h.open(path, dev.cookie))},
		"member": {"shop"}, "upstream_url": {"https://up.example.com"}, "auth_secret": {"typed-secret"}, "document": {"{}"}})
	page := w.Body.String()
	for _, want := range []string{"<code>other</code>", "<code>getPet</code>", `name="member" maxlength="48" autocomplete="off" value="shop"`} {
		if w.Code != 200 || !strings.Contains(page, want) {
			t.Errorf("the preview is %d and lacks %s: %.2000s", w.Code, want, page)
		}
	}
	if strings.Contains(page, "typed-secret") || strings.Contains(page, "<script>alert") {
		t.Error("the preview shows the credential, or runs a script")
	}
}

func TestNestedPartsAreResolvedUnlessTheBoxIsEmpty(t *testing.T) {
	h, s, dev := shopFixture(t)
	const path, ticked = "/console/capabilities/new", `name="resolve_refs" checked`
	form := url.Values{"do": {"preview"}, "form": {h.formOn(h.open(path, dev.cookie))}, "member": {"shop"},
		"upstream_url": {"https://up.example.com"}, "document": {"{}"}}
	if page := h.open(path, dev.cookie).Body.String(); !strings.Contains(page, ticked) {
		t.Errorf("the box is not ticked: %.3000s", page)
	}
	if page := h.send(path, dev.cookie, form).Body.String(); strings.Contains(page, ticked) ||
		!strings.Contains(s.previewed, `"resolve_refs":false`) {
		t.Errorf("an empty box is sent as %s", s.previewed)
	}
	form.Set("resolve_refs", "on")
	form.Set("form", h.formOn(h.open(path, dev.cookie)))
	if page := h.send(path, dev.cookie, form).Body.String(); !strings.Contains(page, ticked) ||
		!strings.Contains(s.previewed, `"resolve_refs":true`) {
		t.Errorf("a ticked box is sent as %s", s.previewed)
	}
}

// A password or a token in an address is for users who may change it. Others see where it leads.
func TestSecretsInAddressesAreShownToWhoMayChangeThemAlone(t *testing.T) {
	h, _, dev := shopFixture(t)
	root, aud := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor)
	c, tools, err := h.store.Tools(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	c.WebhookURL, c.UpstreamURL = "https://ann:pass-sesame@hook.example.com/in?token=query-sesame#part-sesame",
		"https://up.example.com/v1?key=key-sesame"
	must(h.store.SaveCapability(t.Context(), c, tools, storage.Delivery{Event: "e", URL: c.WebhookURL,
		Payload: []byte("{}")}))(t)
	for _, path := range []string{"/console/capabilities", "/console/capabilities/shop",
		"/console/capabilities/shop/deliveries", "/console/capabilities/shop/tools/getPet", "/api/console/deliveries/shop"} {
		w := h.open(path, aud.cookie)
		if w.Code != 200 || strings.Contains(w.Body.String(), "sesame") {
			t.Errorf("an auditor sees %s: %d %s", path, w.Code, w.Body)
		}
	}
	page := h.open("/console/capabilities/shop", aud.cookie).Body.String()
	for _, want := range []string{"https://hook.example.com/in?…", "https://up.example.com/v1?…"} {
		if !strings.Contains(page, want) {
			t.Errorf("an auditor is not shown %s", want)
		}
	}
	for _, u := range []testUser{root, dev} {
		if page := h.open("/console/capabilities/shop", u.cookie).Body.String(); !strings.Contains(page,
			"token=query-sesame") || !strings.Contains(page, "key=key-sesame") {
			t.Errorf("%s does not see the addresses that they may change", u.Username)
		}
		if a := h.call("GET", "/api/console/deliveries/shop", u.cookie, nil); !strings.Contains(a.text, "query-sesame") {
			t.Errorf("%s does not see where events go: %s", u.Username, a.text)
		}
	}
}
