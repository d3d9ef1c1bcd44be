package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/vendordocs"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/counters"
)

// floodedHosts are the vendors' hosts, and those of an attacker, which answer at each URL with a document. It
// remembers how often each was asked in the minute that goes on, and in the fullest.
type floodedHosts struct {
	docs        *vendordocs.Docs
	minute      time.Time
	now         map[string]int
	most, inAll int // of one host, and of all
}

func (f *floodedHosts) RoundTrip(r *http.Request) (*http.Response, error) {
	if minute := time.Now().Truncate(time.Minute); !minute.Equal(f.minute) {
		f.minute, f.now = minute, map[string]int{}
	}
	f.now["all"]++
	f.now[r.URL.Host]++
	f.most, f.inAll = max(f.most, f.now[r.URL.Host]), max(f.inAll, f.now["all"])
	if r.URL.Host == "claude.ai" && strings.HasPrefix(r.URL.Path, "/x") {
		w := httptest.NewRecorder()
		vendordocs.Status(404).ServeHTTP(w, r)
		return w.Result(), nil
	}
	return f.docs.RoundTrip(r)
}

// attackerAt draws one of five /48 and 100 IPv4 addresses. All of them are near honest ones: in one /32, and in one
// /16.
func attackerAt(i int) netip.Addr {
	if i%2 == 0 {
		return netip.MustParseAddr(fmt.Sprintf("2001:db8:%d:%x::1", i/2%5+1, i*2654435761>>8&0xffff))
	}
	return netip.AddrFrom4([4]byte{198, 51, byte(i / 2 % 25), byte(i / 50 % 4)})
}

// floodFixture is a provider, or several that count together, on a store of their own.
func floodFixture(t *testing.T, nodes int) (all []*fixture, hosts *floodedHosts, from *netip.Addr) {
	docs := vendordocs.New(t)
	docs.Echo(2000)
	hosts, from = &floodedHosts{docs: docs}, new(netip.Addr)
	var shared counters.Counter
	if nodes > 1 {
		shared = counters.NewCounter()
	}
	configure := func(c *oauth.Config) {
		c.Consent, c.Log, c.Counter = &fakeConsent{allowed: true}, quiet, shared
		c.Clients.Documents, c.Clients.Transport = oauth.ClientsOpen, hosts
		c.ClientIP = func(*http.Request) netip.Addr { return *from }
	}
	first := newFixture(t, configure)
	all = append(all, first)
	for len(all) < nodes {
		c := oauth.Config{NoDelivery: true, Tokens: first.tokens, SignIn: first.browser}
		configure(&c)
		another := *first
		another.server = must(oauth.New(t.Context(), c))(t)
		all = append(all, &another)
	}
	return all, hosts, from
}

func (h *fixture) askOf(clientID, redirectURI string) *httptest.ResponseRecorder {
	return h.authorize("client_id", clientID, "redirect_uri", redirectURI, "code_challenge", challengeOf(verifier),
		"code_challenge_method", "S256")
}

func (h *fixture) enrolls() *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/oauth/register", strings.NewReader(agentBody))
	r.Header.Set("Content-Type", "application/json")
	return h.serve(r)
}

// within asks again when it may, and reports whether it was let in within a minute.
func within(t *testing.T, what string, from *netip.Addr, honest string, want int,
	ask func() *httptest.ResponseRecorder) {
	t.Helper()
	*from = netip.MustParseAddr(honest)
	begun := time.Now()
	for {
		w := ask()
		if w.Code == want {
			return
		}
		wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
		if w.Code != 429 || err != nil || time.Since(begun)+time.Duration(wait)*time.Second > time.Minute {
			t.Errorf("%s from %s: %d, Retry-After %q: not let in within a minute", what, honest, w.Code,
				w.Header().Get("Retry-After"))
			return
		}
		time.Sleep(time.Duration(wait) * time.Second)
	}
}

// Decision 96. The installation is new: no agent is known yet. The counts alone are tried with a million, see package
// allowance.
func TestInventedDocumentsAndRegistrationsKeepNobodyOut(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 40,000 requests")
	}
	for _, nodes := range []int{1, 2} {
		t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, hosts, from := floodFixture(t, nodes)
				const minutes, each = 10, 2000
				vendorIDs := []string{vendordocs.ClaudeCode, vendordocs.ClaudeAI, vendordocs.ChatGPT, vendordocs.VSCode,
					vendordocs.Codex, vendordocs.OpenCode, vendordocs.Goose, vendordocs.Zed}
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				n := 0
				for minute := range minutes {
					for range each {
						n++
						*from = attackerAt(n)
						h := all[n/3%len(all)]
						switch n % 4 {
						case 0, 1:
							h.enrolls()
						case 2:
							h.askOf(fmt.Sprintf("https://claude.ai/x%d", n), agentRedirect)
						case 3:
							h.askOf(fmt.Sprintf("https://a%d.example.net/c.json", n), agentRedirect)
						}
					}
					h := all[minute%len(all)]
					for i, honest := range []string{
						// elsewhere, and beside the attackers
						fmt.Sprintf("203.0.%d.7", minute), fmt.Sprintf("2001:db8:ff%02x::1", minute),
						fmt.Sprintf("198.51.%d.1", 100+minute),
					} {
						within(t, "a new agent", from, honest, 302, func() *httptest.ResponseRecorder {
							return h.askOf(fmt.Sprintf("https://honest%d-%d.example.org/c.json", minute, i), "http://127.0.0.1/callback")
						})
						within(t, "an agent that registers itself", from, honest, 201, h.enrolls)
					}
					if minute < len(vendorIDs) {
						id := vendorIDs[minute]
						within(t, id, from, fmt.Sprintf("203.0.113.%d", minute), 302,
							func() *httptest.ResponseRecorder { return h.askOf(id, vendors[id]) })
					}
					time.Sleep(time.Minute)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				stored := 0
				for page := ""; ; {
					apps, next, err := all[0].store.Clients(t.Context(), page, 1000)
					if err != nil {
						t.Fatal(err)
					}
					if stored, page = stored+len(apps), next; page == "" {
						break
					}
				}
				grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
				t.Logf("%d requests: at most %d fetches a minute, %d of one host; %d stored, %.1f MB", n, hosts.inAll, hosts.most,
					stored, float64(grown)/1e6)
				const networks = 5*4 + 100 // their reserve of a minute
				if hosts.inAll > 2*(100+networks+10) || hosts.most > 2*(30+networks+10) {
					t.Errorf("%d fetches in a minute, %d of one host", hosts.inAll, hosts.most)
				}
				if most := 2000 + 1000 + 2*(5*16+25*16) + 100; stored > most || grown > 64<<20 {
					t.Errorf("%d are stored, want %d at most; %d bytes", stored, most, grown)
				}
				runtime.KeepAlive(all)
			})
		})
	}
}

// A stranger's document may name anybody's address as that of its keys.
func TestDocumentAndAKeySetAtOneAddressAreNotTakenForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t, openPolicy)
		begun, goOn := make(chan struct{}), make(chan struct{})
		text := vendordocs.All(t)[vendordocs.ClaudeCode]
		var once sync.Once
		h.docs.Set(vendordocs.ClaudeCode, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			once.Do(func() { close(begun) })
			<-goOn
			vendordocs.JSON(text).ServeHTTP(w, r)
		}))
		h.docs.Set(agent, vendordocs.JSON(documentWith(`"token_endpoint_auth_method"`, `"private_key_jwt"`, `"jwks_uri"`, `"`+vendordocs.ClaudeCode+`"`)))
		h.codeFor(agent, agentRedirect)
		var keys answer
		var all sync.WaitGroup
		all.Go(func() {
			keys = h.post("/oauth/token", form("grant_type", "refresh_token", "refresh_token", "rt_x", "client_id", agent,
				"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion",
				vendordocs.Assertion(t, agent, issuer, nil)))
		})
		<-begun
		var w *httptest.ResponseRecorder
		all.Go(func() { w = h.ask(vendordocs.ClaudeCode, claudeRedirect) })
		synctest.Wait()
		close(goOn)
		all.Wait()
		if w.Code != 302 || h.docs.Asked(vendordocs.ClaudeCode) != 2 {
			t.Errorf("authorize = %d %s after %d readings, want a code, and a reading of each", w.Code, w.Body,
				h.docs.Asked(vendordocs.ClaudeCode))
		}
		keys.wants(t, "a document that is no key set", 401, 401, "invalid_client")
	})
}

// Vendors have one key set for all their documents.
func TestKeySetSharedByTwoApplicationsIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory(t, openPolicy)
		goOn := make(chan struct{})
		h.docs.Set(vendordocs.ChatGPTKeys, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-goOn
			vendordocs.JSON(vendordocs.KeySet(t)).ServeHTTP(w, r)
		}))
		ids := []string{agent, agent + "2"}
		answers := make([]answer, len(ids))
		var all sync.WaitGroup
		for i, id := range ids {
			h.docs.Set(id, vendordocs.JSON(strings.ReplaceAll(documentWith(`"token_endpoint_auth_method"`, `"private_key_jwt"`, `"jwks_uri"`, `"`+vendordocs.ChatGPTKeys+`"`), agent, id)))
			code := h.codeFor(id, agentRedirect)
			all.Go(func() {
				answers[i] = h.redeem(id, agentRedirect, code, "client_assertion_type",
					"urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion",
					vendordocs.Assertion(t, id, issuer, nil))
			})
		}
		synctest.Wait()
		close(goOn)
		all.Wait()
		for _, a := range answers {
			a.tokens(t)
		}
	})
}

// slowCounter lets others come while it counts for one address.
type slowCounter struct {
	counters.Counter
	of   netip.Addr
	wait chan struct{}
}

func (c slowCounter) Wait(ctx context.Context, name string, p netip.Prefix, limit int,
	window time.Duration) time.Duration {
	if p.Contains(c.of) && p.IsSingleIP() {
		<-c.wait
	}
	return c.Counter.Wait(ctx, name, p, limit, window)
}

// Clients of other networks are not refused with one that is.
func TestFloodOfOneNetworkRefusesNoneThatWaitWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attacker, honest := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("203.0.113.1")
		counter := slowCounter{counters.NewCounter(), attacker, make(chan struct{})}
		h := inMemory(t, openPolicy, func(c *oauth.Config) {
			c.Counter = counter
			c.ClientIP = func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("X-From")) }
		})
		ask := func(id string, from netip.Addr) *httptest.ResponseRecorder {
			v := form("response_type", "code", "client_id", id, "redirect_uri", claudeRedirect, "code_challenge",
				challengeOf(verifier), "code_challenge_method", "S256")
			r := httptest.NewRequest("GET", "/oauth/authorize?"+v.Encode(), nil)
			r.Header.Set("X-From", from.String())
			return h.serve(r)
		}
		for range 10 {
			counter.Add(t.Context(), "client documents in 1m0s", netip.PrefixFrom(attacker, 32), 10, time.Minute)
		}
		var refused, let *httptest.ResponseRecorder
		var all sync.WaitGroup
		all.Go(func() { refused = ask(vendordocs.ClaudeCode, attacker) })
		synctest.Wait()
		all.Go(func() { let = ask(vendordocs.ClaudeCode, honest) })
		synctest.Wait()
		close(counter.wait)
		all.Wait()
		if refused.Code != 429 || let.Code != 302 {
			t.Errorf("the one is answered %d, who waited with it %d; want 429 and a code", refused.Code, let.Code)
		}
		if !strings.Contains(refused.Body.String(), "Try again in 60 seconds.") ||
			refused.Header().Get("Retry-After") != "60" {
			t.Errorf("Retry-After %q: %s", refused.Header().Get("Retry-After"), refused.Body)
		}
	})
}

// An earlier version has admitted schemes that are refused since.
func TestApplicationWithARedirectThatIsRefusedSinceIsKeptForItsOthers(t *testing.T) {
	h := newFixture(t)
	id := evilApp(t, h.store, "steam://run/1", evil)
	if err := h.store.KeepClient(t.Context(), id); err != nil {
		t.Errorf("a user consents: %v", err)
	}
	_, err := h.store.SaveApp(t.Context(), storage.App{ID: client.DynamicPrefix + "script", Name: "x", Public: true,
		Client: &client.Description{
			Kind: client.Dynamic, AuthMethod: client.AuthNone, RedirectURIs: []string{"javascript:/alert(1)"},
		}})
	if !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("a script is stored: %v", err)
	}
}
