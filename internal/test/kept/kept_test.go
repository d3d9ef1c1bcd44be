package kept

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

const day = 24 * time.Hour

// granted holds what carl has been granted: each opens shop and nothing else.
type granted struct{ bearer, refresh, key, toolKey, everything string }

func (h *fixture) grants() (g granted) {
	h.consent("tools:shop tools:shop/order")
	g.bearer, g.refresh = h.token("authorization_code", "code", h.authorize("tools:shop"))
	g.key, g.toolKey, g.everything = h.apiKey("tools:shop"), h.apiKey("tools:shop/order"), h.apiKey("tools")
	h.bundle("shop__*")
	return g
}

// wantOpen fails unless what was granted finds the tool of shop, or finds nothing.
func (h *fixture) wantOpen(open bool, g granted, what string) {
	h.Helper()
	want := []string{}
	if open {
		want = append(want, "shop__order")
	}
	for name, bearer := range map[string]string{"a token": g.bearer, "a key of the capability": g.key,
		"a key of the tool": g.toolKey} {
		if bearer == "" {
			continue
		}
		if got := h.finds(bearer, "/api/mcp"); !slices.Equal(got, want) {
			h.Errorf("%s: %s finds %q, want %q", what, name, got, want)
		}
		if !open {
			w := h.send("POST", "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop__order","arguments":{}}}`,
				"Content-Type", "application/json", "Accept", "application/json", "Authorization", "Bearer "+bearer)
			if w.Code != 403 || !strings.Contains(w.Header().Get("WWW-Authenticate"), "insufficient_scope") {
				h.Errorf("%s: %s calls it: %d %s", what, name, w.Code, w.Body)
			}
		}
	}
	if got := h.finds(g.everything, "/api/mcp/b/support"); !slices.Equal(got, want) {
		h.Errorf("%s: the bundle has %q, want %q", what, got, want)
	}
	if asked := h.authorize("tools:shop") == ""; asked == open {
		h.Errorf("%s: consent is asked for: %t, want %t", what, asked, !open)
	}
}

func TestDeletedCapabilitysNameIsItsOwnersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.wantRegistered(200, h.ann, "shop", "at first")
		time.Sleep(time.Second)
		g := h.grants()
		h.wantOpen(true, g, "at first")
		h.remove(h.ann, "shop")
		for _, name := range []string{"shop", "SHOP", "s-hop", "sh_op"} {
			h.wantRegistered(403, h.mal, name, "after its removal")
		}
		if code, text := h.register(h.mal, "shop"); code != 403 || !strings.Contains(text, "kept for them until") ||
			strings.Contains(text, h.ann.Sub) {
			t.Errorf("the refusal is %d %s", code, text)
		}
		g.bearer = ""
		h.later(89 * day)
		h.wantRegistered(403, h.mal, "shop", "after 89 days")
		h.wantRegistered(200, h.ann, "shop", "after 89 days")
		h.wantOpen(true, g, "it is ann's again")
	})
}

func TestGrantUnderANameDoesNotOpenTheNextOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.wantRegistered(200, h.ann, "shop", "at first")
		time.Sleep(time.Second)
		g := h.grants()
		h.remove(h.ann, "shop")
		for range 4 { // the family of the token lives on
			h.later(23 * day)
			g.bearer, g.refresh = h.token("refresh_token", "refresh_token", g.refresh)
		}
		h.wantRegistered(200, h.mal, "shop", "after 92 days")
		h.wantOpen(false, g, "it is mal's")
		time.Sleep(time.Second)
		h.consent("tools:shop")
		g.bearer, _ = h.token("authorization_code", "code", h.authorize("tools:shop"))
		if got := h.finds(g.bearer, "/api/mcp"); !slices.Equal(got, []string{"shop__order"}) {
			t.Errorf("once it is allowed anew the token finds %q", got)
		}
	})
}

func TestAdministratorPassesANameOnAndItIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.wantRegistered(200, h.ann, "shop", "at first")
		time.Sleep(time.Second)
		g := h.grants()
		h.remove(h.ann, "shop")
		time.Sleep(time.Second)
		if code, text := h.register(h.root, "shop"); code != 200 ||
			!strings.Contains(text, "the name has another owner now") {
			t.Errorf("an administrator takes the name: %d %s", code, text)
		}
		h.wantOpen(false, g, "it is the administrator's")
		trail := ""
		records, err := h.Store.Records(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			trail += string(r.Data)
		}
		if want := `owner \"` + h.ann.Sub + `\" -> \"` + h.root.Sub + `\"`; !strings.Contains(trail, want) {
			t.Errorf("the trail does not say %q: %s", want, trail)
		}
		// A capability that is there passes on as a whole.
		c, tools, err := h.Store.Tools(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		c.Owner = h.mal.Sub
		must(h.Store.SaveCapability(t.Context(), c, tools))(t)
		if err := h.Bus.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.wantOpen(false, g, "it is mal's")
		if w := h.send("GET", "/api/console/capabilities/shop", "", "Cookie", h.browser(h.ann)); w.Code != 403 {
			t.Errorf("ann is shown %d", w.Code)
		}
	})
}

func TestNamesKeptByAnOwnerAreAtMostFifty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		name := func(i int) string { return "name" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }
		for i := range 60 {
			c := must(h.Store.SaveCapability(t.Context(), storage.Capability{Member: name(i), Kind: storage.CapabilityMCP,
				UpstreamURL: "https://mal.example.com", Owner: h.mal.Sub}, nil))(t)
			time.Sleep(time.Second)
			if err := h.Store.DeleteCapability(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		h.wantRegistered(200, h.ann, name(0), "the oldest of sixty")
		h.wantRegistered(200, h.ann, name(9), "the tenth of sixty")
		h.wantRegistered(403, h.ann, name(10), "the fiftieth before the last")
		h.wantRegistered(403, h.ann, name(59), "the last")
		h.later(91 * day)
		if n := must(h.Store.Sweep(t.Context(), time.Now()))(t); n < 50 {
			t.Errorf("%d records are swept after 91 days, want fifty names among them", n)
		}
	})
}
