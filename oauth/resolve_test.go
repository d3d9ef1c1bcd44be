package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

const claudeRedirect = "http://localhost:54317/callback"

// Of ten minutes, as the documents here say.
func TestDocumentIsReadAgainOnceItIsNoLongerFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t)
		reads := func(want int) {
			t.Helper()
			h.codeFor(vendordocs.ClaudeCode, claudeRedirect)
			if n := h.docs.Asked(vendordocs.ClaudeCode); n != want {
				t.Errorf("it was read %d times, want %d", n, want)
			}
		}
		reads(1)
		time.Sleep(9 * time.Minute)
		reads(1)
		time.Sleep(time.Minute)
		calls := h.calls.during(func() { reads(2) })
		if calls["Put"] != 1 {
			t.Errorf("a document that is what it was costs %d writes, want the one that makes it fresh", calls["Put"])
		}
		if calls := h.calls.during(func() { reads(2) }); calls["Put"] != 0 {
			t.Errorf("one that is fresh costs %d writes, want none", calls["Put"])
		}
		if got := h.trail.of(event.Client); !slices.Equal(got, []string{"document admitted"}) {
			t.Errorf("the trail says %q", got)
		}
	})
}

func TestVendorMayBeAwayForADay(t *testing.T) {
	for what, away := range map[string]http.Handler{
		"not found": vendordocs.Status(404), "a page": vendordocs.JSON("<html>"), "an error": vendordocs.Status(500),
		"silence":          http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		"another document": vendordocs.JSON(documentWith()),
	} {
		synctest.Test(t, func(t *testing.T) {
			h := inMemory(t)
			granted := h.redeem(vendordocs.ClaudeCode, claudeRedirect,
				h.codeFor(vendordocs.ClaudeCode, claudeRedirect)).tokens(t)
			if err := h.store.KeepClient(t.Context(), vendordocs.ClaudeCode); err != nil {
				t.Fatal(err)
			}
			h.docs.Set(vendordocs.ClaudeCode, away)
			refresh := func() {
				t.Helper()
				granted = h.post("/oauth/token", form("grant_type", "refresh_token", "client_id", vendordocs.ClaudeCode,
					"refresh_token", granted.text("refresh_token"))).tokens(t)
			}
			time.Sleep(24*time.Hour + 9*time.Minute)
			before := h.docs.Asked("")
			for range 50 {
				h.codeFor(vendordocs.ClaudeCode, claudeRedirect)
			}
			if n := h.docs.Asked("") - before; n != 1 {
				t.Errorf("%s: 50 sign-ins within a minute ask the vendor %d times, want once", what, n)
			}
			refresh()
			time.Sleep(2 * time.Minute)
			w := h.ask(vendordocs.ClaudeCode, claudeRedirect)
			if w.Code != 400 || w.Header().Get("Location") != "" {
				t.Errorf("%s: a day and longer: authorize = %d, want a page", what, w.Code)
			}
			time.Sleep(20 * 24 * time.Hour)
			before = h.docs.Asked("")
			if refresh(); h.docs.Asked("") != before {
				t.Errorf("%s: a refresh reads the document", what)
			}
			h.docs.Set(vendordocs.ClaudeCode, vendordocs.JSON(vendordocs.All(t)[vendordocs.ClaudeCode]))
			h.codeFor(vendordocs.ClaudeCode, claudeRedirect)
		})
	}
}

func TestDocumentThatChangesIsAnotherOneToConsentTo(t *testing.T) {
	for what, change := range map[string][]string{
		"redirect_uris": {`"redirect_uris"`, `["http://127.0.0.1/callback","https://evil.example.org/"]`},
		"name":          {`"client_name"`, `"Another agent"`},
		"keys":          {`"token_endpoint_auth_method"`, `"private_key_jwt"`, `"jwks"`, publicKeys},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := inMemory(t, openPolicy)
			h.docs.Set(agent, vendordocs.JSON(documentWith()))
			h.codeFor(agent, agentRedirect)
			if err := h.store.KeepClient(t.Context(), agent); err != nil {
				t.Fatal(err)
			}
			old := must(h.store.App(t.Context(), agent))(t)
			h.docs.Set(agent, vendordocs.JSON(documentWith(change...)))
			time.Sleep(time.Hour)
			h.codeFor(agent, agentRedirect)
			now := must(h.store.App(t.Context(), agent))(t)
			if now.Terms() == old.Terms() {
				t.Errorf("%s: the terms of the stored application are what they were", what)
			}
			if now.Client.KeptAt.IsZero() || !now.Client.ExpiresAt.IsZero() || !now.CreatedAt.Equal(old.CreatedAt) {
				t.Errorf("%s: it is no longer kept: %+v", what, now.Client)
			}
			if got := h.trail.of(event.Client); !slices.Equal(got, []string{"document admitted", "document changed"}) {
				t.Errorf("%s: the trail says %q", what, got)
			}
		})
	}
}

func TestDeniedHostIsNeverFetched(t *testing.T) {
	h := inMemory(t, openPolicy)
	granted := h.redeem(vendordocs.ClaudeCode, claudeRedirect, h.codeFor(vendordocs.ClaudeCode, claudeRedirect)).tokens(t)
	must(h.store.SetClientHost(t.Context(), "claude.ai", true))(t)
	before := h.docs.Asked("")
	for _, id := range []string{vendordocs.ClaudeCode, vendordocs.ClaudeAI, "https://claude.ai/another"} {
		w := h.ask(id, claudeRedirect)
		if w.Code != 400 || w.Header().Get("Location") != "" || !strings.Contains(w.Body.String(), "operator") {
			t.Errorf("authorize of %s = %d to %q, want a page that names the operator", id, w.Code, w.Header().Get("Location"))
		}
	}
	h.post("/oauth/token", form("grant_type", "refresh_token", "client_id", vendordocs.ClaudeCode, "refresh_token",
		granted.text("refresh_token"))).
		wants(t, "a refresh", 401, 401, "invalid_client")
	if n := h.docs.Asked("") - before; n != 0 {
		t.Errorf("%d were fetched, want none", n)
	}
	host := must(h.store.ClientHost(t.Context(), "claude.ai"))(t)
	if err := h.store.ForgetClientHost(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	h.post("/oauth/token", form("grant_type", "refresh_token", "client_id", vendordocs.ClaudeCode, "refresh_token",
		granted.text("refresh_token"))).tokens(t)
}

func TestDocumentsComeFromListedAndTrustedHosts(t *testing.T) {
	h := inMemory(t) // listed, as the BaseURL is no loopback one
	h.docs.Set(agent, vendordocs.JSON(documentWith()))
	if w := h.ask(agent, agentRedirect); w.Code != 400 || !strings.Contains(w.Body.String(), "operator") ||
		h.docs.Asked(agent) != 0 {
		t.Errorf("a host on no list: %d, read %d times, want a page and no reading", w.Code, h.docs.Asked(agent))
	}
	must(h.store.SetClientHost(t.Context(), "agent.example.net", false))(t)
	h.codeFor(agent, agentRedirect)
	h.codeFor(vendordocs.VSCode, "https://vscode.dev/redirect")

	h = inMemory(t, func(c *oauth.Config) { c.Clients.Hosts = []string{"agent.example.net"} })
	h.docs.Set(agent, vendordocs.JSON(documentWith()))
	h.codeFor(agent, agentRedirect)
	if w := h.ask(vendordocs.VSCode, "https://vscode.dev/redirect"); w.Code != 400 ||
		h.docs.Asked(vendordocs.VSCode) != 0 {
		t.Errorf("a host that the operator's list is without: %d", w.Code)
	}
	for what, off := range map[string]func(*oauth.Config){
		"off":               func(c *oauth.Config) { c.Clients.Documents = oauth.ClientsOff },
		"without a Consent": func(c *oauth.Config) { c.Consent = nil },
	} {
		h := inMemory(t, off)
		must(h.store.SetClientHost(t.Context(), "claude.ai", false))(t)
		if w := h.ask(vendordocs.ClaudeCode, claudeRedirect); w.Code != 400 || h.docs.Asked("") != 0 {
			t.Errorf("%s: %d, %d read, want a page and no reading", what, w.Code, h.docs.Asked(""))
		}
	}
}

func TestPageSaysWhatToDoAndToTheMakerWhatIsWrong(t *testing.T) {
	h := inMemory(t, openPolicy)
	h.docs.Set(agent, vendordocs.JSON(documentWith(`"client_secret"`, `"x"`)))
	for language, want := range map[string]string{"en": "tell who makes it (its document holds a client_secret",
		"zh-CN": "请告知其开发者 (its document holds a client_secret"} {
		if w := h.ask(agent, agentRedirect, "ui_locales", language); !strings.Contains(w.Body.String(), want) {
			t.Errorf("in %s the page is without %q", language, want)
		}
	}
	h.post("/oauth/token", form("grant_type", "refresh_token", "client_id", "https://agent.example.net/?", "refresh_token",
		"rt_x")).wants(t, "a token", 401, 401, "invalid_client")
}

func TestPolicyThatCannotBeReadFailsAtTheStart(t *testing.T) {
	h := newFixture(t)
	for what, bad := range map[string]oauth.ClientsConfig{
		"Documents": {Documents: "some"}, "Hosts": {Hosts: []string{"Claude.ai"}},
		"claude.ai/x": {Hosts: []string{"claude.ai/x"}}, "claude.ai:443": {Hosts: []string{"claude.ai:443"}},
		"netguard": {AllowPrivate: []string{"x y"}},
	} {
		_, err := oauth.New(t.Context(), oauth.Config{Tokens: h.tokens, SignIn: h.browser, Consent: &fakeConsent{},
			Clients: bad})
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("New with %+v = %v, want an error that names %s", bad, err, what)
		}
	}
}

func TestHundredVisitorsAtOnceCauseOneReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t)
		text := vendordocs.All(t)[vendordocs.ClaudeCode]
		h.docs.Set(vendordocs.ClaudeCode, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			vendordocs.JSON(text).ServeHTTP(w, r)
		}))
		var visitors sync.WaitGroup
		for i := range 100 {
			visitors.Go(func() {
				ctx, leave := context.WithTimeout(t.Context(), time.Duration(1+i)*100*time.Millisecond)
				defer leave()
				w := h.askAs(ctx, vendordocs.ClaudeCode, claudeRedirect)
				if i > 20 && w.Code != 302 {
					t.Errorf("visitor %d: %d, want a code although others have left", i, w.Code)
				}
			})
			synctest.Wait() // so that the first one, who leaves first, has begun the reading
		}
		visitors.Wait()
		if n := h.docs.Asked(vendordocs.ClaudeCode); n != 1 {
			t.Errorf("it was read %d times, want once", n)
		}
	})
}

func TestClientDocumentIsNotFetchedForAnInvalidRequest(t *testing.T) {
	h := inMemory(t)
	for what, pairs := range map[string][]string{
		"no redirect_uri": {"redirect_uri", "-"}, "a script": {"redirect_uri", "javascript:alert(1)"},
		"http":             {"redirect_uri", "http://evil.example.org/"},
		"no response_type": {"response_type", "-"}, "a token": {"response_type", "token"},
		"a request object": {"request", "x"}, "a prompt": {"prompt", "x"}, "max_age": {"max_age", "x"},
		"no challenge": {"code_challenge", "-"}, "a short challenge": {"code_challenge", "x"},
		"plain":            {"code_challenge_method", "plain"},
		"another resource": {"resource", "https://evil.example.org/"}, "another way to answer": {"response_mode", "fragment"},
	} {
		if w := h.ask(vendordocs.ClaudeCode, claudeRedirect, pairs...); w.Code != 400 || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d to %q, want a page", what, w.Code, w.Header().Get("Location"))
		}
	}
	if n := h.docs.Asked(""); n != 0 {
		t.Errorf("%d were fetched, want none", n)
	}
	h.codeFor(vendordocs.ClaudeCode, claudeRedirect)
}

func TestRequesterCausesTenReadingsAMinuteAndAllAHundredBeforeTheirReserves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		address := netip.MustParseAddr("192.0.2.1")
		h := inMemory(t, func(c *oauth.Config) {
			c.Clients.Documents, c.ClientIP = oauth.ClientsOpen, func(*http.Request) netip.Addr { return address }
		})
		asked := 0
		ask := func(n int) (last string, read int) {
			before := h.docs.Asked("")
			for range n {
				asked++
				last = h.ask(fmt.Sprintf("https://a%d.example.net/c.json", asked), agentRedirect).Header().Get("Retry-After")
			}
			return last, h.docs.Asked("") - before
		}
		if wait, read := ask(30); read != 10 || wait != "60" {
			t.Errorf("of 30 documents %d are read, and Retry-After is %q, want 10 and a minute", read, wait)
		}
		for i := range 20 {
			address = netip.AddrFrom4([4]byte{198, 51, byte(i), 1})
			ask(10)
		}
		if n := h.docs.Asked(""); n != 100+11 {
			t.Errorf("of 21 requesters %d are read, want 100 and one each of the 11 that came later", n)
		}
		time.Sleep(time.Minute)
		if _, read := ask(1); read != 1 {
			t.Error("nothing is read a minute later")
		}
	})
}

func TestClientWithoutConsentEndsAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t)
		h.codeFor(vendordocs.Zed, "http://127.0.0.1:61234/callback")
		h.docs.Set(vendordocs.Zed, vendordocs.Status(404))
		time.Sleep(24 * time.Hour)
		h.post("/oauth/token", form("grant_type", "refresh_token", "client_id", vendordocs.Zed, "refresh_token",
			"rt_x")).wants(t, "a day later", 401, 401, "invalid_client")
		if w := h.ask(vendordocs.Zed, "http://127.0.0.1:61234/callback"); w.Code != 400 {
			t.Errorf("authorize = %d, want a page: nobody knows it", w.Code)
		}
		h.docs.Set(vendordocs.Zed, vendordocs.JSON(vendordocs.All(t)[vendordocs.Zed]))
		h.codeFor(vendordocs.Zed, "http://127.0.0.1:61234/callback")
	})
}

func TestRedirectRefusedDoesNotRefuseTheOthers(t *testing.T) {
	h := inMemory(t, openPolicy)
	h.docs.Set(agent, vendordocs.JSON(documentWith(`"redirect_uris"`, `["http://agent.example.net/cb","cursor://anysphere.cursor-mcp/oauth/callback","javascript:alert(1)"]`)))
	h.codeFor(agent, "cursor://anysphere.cursor-mcp/oauth/callback")
	for _, uri := range []string{"http://agent.example.net/cb", "javascript:alert(1)",
		"cursor://anysphere.cursor-mcp/oauth/callback/x", agentRedirect} {
		if w := h.ask(agent, uri); w.Code != 400 || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d to %q, want a page", uri, w.Code, w.Header().Get("Location"))
		}
	}
}

// One attacker, with as many hosts and addresses as they like, and documents as large as they may be.
func TestDayOfNewHostsIsAThousandDocumentsAndAReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t, openPolicy)
		h.docs.Echo(4000)
		const minutes, each = 150, 100
		for minute := range minutes {
			for i := range each {
				h.ask(fmt.Sprintf("https://a%d-%d.example.net/oauth/client.json", minute, i), agentRedirect)
			}
			time.Sleep(time.Minute)
		}
		stored, size := 0, 0
		for span := driver.Is("client"); ; {
			docs, next, err := h.calls.List(t.Context(), "app", span, driver.Page)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range docs {
				stored, size = stored+1, size+len(d.Data)
			}
			if span.From = next; next == "" {
				break
			}
		}
		read := h.docs.Asked("")
		t.Logf("%d hosts in %d minutes: %d documents read, %d stored in %d bytes", minutes*each, minutes, read, stored, size)
		if want := 1000 + 16; read != want || stored != want || size > want*(6<<10) { // all requesters are of one /48
			t.Errorf("%d read and %d stored in %d bytes, want %d of 6 KiB at most", read, stored, size, want)
		}
		h.codeFor(vendordocs.ClaudeCode, claudeRedirect) // a listed host has a budget of its own
		time.Sleep(24 * time.Hour)
		if w := h.ask("https://late.example.net/oauth/client.json", agentRedirect); w.Code != 302 {
			t.Errorf("a new host the day after: %d, want a code", w.Code)
		}
	})
}
