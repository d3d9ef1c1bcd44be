package roundrobin

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

const (
	officeApp      = "ks-agent" // nobody registered it here
	officeRedirect = "http://127.0.0.1/callback"
)

// inOffices runs a test with one node, and with two that count together.
func inOffices(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Run("one node", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, newOffice(t, 1)) })
	})
	t.Run("two nodes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, newOffice(t, 2, newCounters().shared)) })
	})
}

// newOffice is a cluster with ten people more, and an agent without a secret.
func newOffice(t *testing.T, nodes int, changes ...func(*keystile.Config)) *cluster {
	c := newCluster(t, nodes, changes...)
	for i := range 10 {
		_, err := users.New(c.store, cheap()).Create(t.Context(), storage.User{Username: fmt.Sprint("person", i)}, password)
		must(t, err)
	}
	_, err := c.store.SaveApp(t.Context(), storage.App{ID: officeApp, Name: "Agent", Public: true,
		Client: &client.Description{
			Kind: client.Dynamic, AuthMethod: client.AuthNone, RedirectURIs: []string{officeRedirect},
			Grants: []string{"authorization_code", "refresh_token"},
		}})
	must(t, err)
	return c
}

// bus sends a message to the tool bus.
func (p *person) bus(bearer, method string) page {
	r := httptest.NewRequest(http.MethodPost, origin+"/api/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"login","version":"1"}}}`))
	r.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return p.send(r)
}

// agents sign a person in and begin to work, each by a sequence of requests that was recorded; see
// signIn.act for the letters. They are those that send the most: with and without registration, with a
// token that is refused and refreshed, and looking for a stream before anything.
var agents = map[string]string{
	"TypeScript SDK, registers and refreshes": "mparBpatccccxpafccc",
	"mcp-remote, registers":                   "gpagmparBtcccccc",
	"go-sdk, metadata document":               "mpaBtcc",
	"ai-sdk, registers":                       "gmparBpatccccc",
}

// signIn is a person who signs in by an agent, in a browser.
type signIn struct {
	browser, agent *person
	name           string
	requests       int // all of them
	tokens         page
	code, bearer   string
}

func (s *signIn) want(a page, status int) page {
	s.browser.c.t.Helper()
	if s.requests++; a.status != status {
		s.browser.c.t.Fatalf("%s: request %d, %s = %d %s, want %d", s.name, s.requests, a.what, a.status, a.body, status)
	}
	return a
}

func (s *signIn) act(letter rune) {
	s.browser.c.t.Helper()
	switch letter {
	case 'm':
		s.want(s.agent.bus("", "initialize"), 401)
	case 'g', 'r': // what is answered is no matter here
		ask := s.agent.get
		if letter == 'r' {
			ask = func(string) page { return s.agent.post("/oauth/register") }
		}
		a := ask("/api/mcp")
		if s.requests++; a.status == 429 {
			s.want(a, 0)
		}
	case 'p':
		s.want(s.agent.get("/.well-known/oauth-protected-resource/api/mcp"), 200)
	case 'a':
		s.want(s.agent.get("/.well-known/oauth-authorization-server"), 200)
	case 'B':
		s.browse()
	case 't':
		s.tokens = s.want(s.agent.post("/oauth/token", "client_id", officeApp, "grant_type", "authorization_code", "code",
			s.code,
			"redirect_uri", officeRedirect, "code_verifier", verifier, "resource", origin+"/api/mcp"), 200)
		s.bearer = s.tokens.member("access_token")
	case 'f':
		s.tokens = s.want(s.agent.post("/oauth/token", "client_id", officeApp, "grant_type", "refresh_token", "refresh_token",
			s.tokens.member("refresh_token")), 200)
		s.bearer = s.tokens.member("access_token")
	case 'c':
		s.want(s.agent.bus(s.bearer, "initialize"), 200)
	case 'x':
		s.want(s.agent.bus("bad."+s.bearer, "initialize"), 401)
	}
}

// browse is the part of the browser: authorize, sign in, authorize, consent, authorize.
func (s *signIn) browse() {
	a := s.want(s.browser.get("/oauth/authorize?"+form("response_type", "code", "client_id", officeApp, "redirect_uri",
		officeRedirect, "state", "drawn-before",
		"scope", "openid tools", "code_challenge", challenge, "code_challenge_method", "S256", "resource",
		origin+"/api/mcp").Encode()), 200)
	a = s.want(s.browser.post("/oauth/signin", filled(hiddenTag.FindAllStringSubmatch(a.body, -1), "username", s.name,
		"password", password)...), 303)
	a = s.want(s.browser.get(a.location), 200)
	a = s.want(s.browser.post("/oauth/signin/consent", filled(hiddenTag.FindAllStringSubmatch(a.body, -1), "allow",
		"1")...), 303)
	a = s.want(s.browser.get(a.location), 302)
	s.code = strings.TrimPrefix(strings.SplitN(a.location, "&", 2)[0], officeRedirect+"?code=")
}

func filled(hidden [][]string, pairs ...string) []string {
	for _, h := range hidden {
		pairs = append(pairs, h[1], html.UnescapeString(h[2]))
	}
	return pairs
}

// Decision 24: sixty a minute are for those whom nobody knows.
func TestTenPeopleBehindOneAddressSignInWithinAMinute(t *testing.T) {
	for agent, sequence := range agents {
		t.Run(agent, func(t *testing.T) {
			inOffices(t, func(t *testing.T, c *cluster) {
				total := 0
				for i := range 10 {
					s := &signIn{browser: c.person(), agent: c.person(), name: fmt.Sprint("person", i)}
					for _, letter := range sequence {
						s.act(letter)
					}
					total += s.requests
				}
				if want := 10 * (len(sequence) + 4); total != want {
					t.Errorf("%d requests, want %d", total, want)
				}
			})
		})
	}
}

// refused returns how many requests are answered before the first one that is refused.
func refused(most int, send func() page) int {
	for n := range most {
		if send().status == http.StatusTooManyRequests {
			return n
		}
	}
	return most
}

func TestStrangerHasSixtyRequestsAMinute(t *testing.T) {
	inOffices(t, func(t *testing.T, c *cluster) {
		if n := refused(100, func() page { return c.person().get("/oauth/signin") }); n != 60 {
			t.Errorf("%d pages, want 60", n)
		}
		stranger := c.person()
		stranger.cookies["open_sso_token"] = "made-up"
		if a := stranger.get("/oauth/account"); a.status != 429 {
			t.Errorf("with a cookie that is none: %d", a.status)
		}
		guesser := c.person()
		guesser.from = "198.51.100.7:1"
		guess := func() page {
			return guesser.post("/oauth/token", "client_id", officeApp, "grant_type", "authorization_code", "code", "made-up",
				"redirect_uri", officeRedirect)
		}
		if n := refused(100, guess); n != 60 {
			t.Errorf("%d codes are tried, want 60", n)
		}
	})
}

func TestSessionHasSixtyRequestsAMinuteOfItsOwn(t *testing.T) {
	inOffices(t, func(t *testing.T, c *cluster) {
		p := c.person()
		// and what that leads to
		p.submit(p.get("/oauth/signin"), "/oauth/signin", "username", "person0", "password", password)
		if n := refused(100, func() page { return p.get("/oauth/account") }); n != 59 {
			t.Errorf("%d pages more, want 59", n)
		}
		if a := p.get("/oauth/authorize?" + form("response_type", "code", "client_id", officeApp, "redirect_uri",
			officeRedirect, "state", "s",
			"code_challenge", challenge, "code_challenge_method", "S256").Encode()); a.status != 429 || a.location != "" {
			t.Errorf("authorize = %d to %q, want it to be refused here", a.status, a.location)
		}
		if n := refused(100, func() page { return c.person().get("/oauth/signin") }); n != 59 {
			t.Errorf("%d pages of those who share its address, want 59: all but the form", n)
		}
		time.Sleep(time.Minute)
		if a := p.get("/oauth/account"); a.status != 200 {
			t.Errorf("a minute later = %d", a.status)
		}
	})
}

func TestSessionsOfAUserHaveFourTimesThatTogether(t *testing.T) {
	inOffices(t, func(t *testing.T, c *cluster) {
		total := 0
		for i := range 6 {
			p := c.person()
			p.from = fmt.Sprintf("198.51.100.%d:1", i)
			a := p.get("/oauth/signin")
			p.post("/oauth/signin", filled(hiddenTag.FindAllStringSubmatch(a.body, -1), "username", "person0", "password",
				password)...)
			total += refused(100, func() page { return p.get("/oauth/account") })
		}
		if total != 240 {
			t.Errorf("%d pages in six sessions, want 240", total)
		}
	})
}

// A user who signs in all the time makes others check passwords: that is no more than an address may do.
func TestSigningInAgainAndAgainCountsForTheAddress(t *testing.T) {
	inOffices(t, func(t *testing.T, c *cluster) {
		enter := func() page { return c.person().post("/oauth/signin", "username", "person0", "password", password) }
		if n := refused(200, enter); n != 66 {
			t.Errorf("%d sign-ins of one user, want 66: 6 of their own and the address's 60", n)
		}
	})
}
