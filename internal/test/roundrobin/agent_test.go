package roundrobin

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile"
)

// agent is an application that has registered itself, and the client of it that holds its tokens.
type agent struct {
	p  *person
	id string
}

func (p *person) agent() agent {
	p.c.t.Helper()
	r := httptest.NewRequest("POST", origin+"/oauth/register", strings.NewReader(
		`{"client_name":"Agent","redirect_uris":["`+redirect+`"],"token_endpoint_auth_method":"none",`+
			`"grant_types":["authorization_code","refresh_token"]}`))
	r.Header.Set("Content-Type", "application/json")
	a := p.send(r)
	var made struct {
		ID string `json:"client_id"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || made.ID == "" {
		p.c.t.Fatalf("registering = %d %s", a.status, a.body)
	}
	return agent{p, made.ID}
}

// begin signs Ada in for the agent, and returns its first refresh token.
func (g agent) begin() string {
	g.p.c.t.Helper()
	at := strings.Replace(authorize, "client_id=ksapp", "client_id="+g.id, 1)
	a := g.p.submit(g.p.get(at), "/oauth/signin", "username", "ada", "password", password)
	code := g.p.submit(a, "/oauth/signin/consent", "allow", "1").brought("code")
	return g.send(g.p, "grant_type", "authorization_code", "code", code, "redirect_uri", redirect, "code_verifier",
		verifier).member("refresh_token")
}

func (g agent) send(from *person, pairs ...string) page {
	return from.post("/oauth/token", append([]string{"client_id", g.id}, pairs...)...)
}

func (g agent) refresh(token string, more ...string) page {
	return g.send(g.p, append([]string{"grant_type", "refresh_token", "refresh_token", token}, more...)...)
}

// bears asks whose an access token is.
func (p *person) bears(token string) page {
	r := httptest.NewRequest("GET", origin+"/oauth/userinfo", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return p.send(r)
}

// refused fails unless a refresh is refused.
func (a page) refused(t *testing.T, what string) {
	t.Helper()
	if a.status != 400 || !strings.Contains(a.body, `"invalid_grant"`) || strings.Contains(a.body, "rt_") {
		t.Errorf("%s = %d %s", what, a.status, a.body)
	}
}

// Decision 90.
func TestAgentThatLosesAnAnswerAsksOnceMore(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		g := p.agent()
		first := g.begin()
		next := g.refresh(first).member("refresh_token")
		for _, after := range []time.Duration{0, 15 * time.Second, 44 * time.Second} {
			time.Sleep(after)
			a := g.refresh(first, "scope", "openid")
			if a.member("refresh_token") != next || a.member("scope") != "openid" {
				t.Errorf("%s later the answer is %s, want the refresh token %s", after, a.body, next)
			}
			if u := p.bears(a.member("access_token")); u.status != 200 {
				t.Errorf("its access token = %d %s", u.status, u.body)
			}
		}
		other := p.agent()
		other.refresh(first).refused(t, "another agent's refresh")
		g.refresh(first, "scope", "openid email").wider(t)
		third := g.refresh(next).member("refresh_token")
		if again := g.refresh(next).member("refresh_token"); again != third {
			t.Errorf("the successor's successor is %s and %s", third, again)
		}

		time.Sleep(time.Minute) // the window is over, and a thief may hold it
		g.refresh(next).refused(t, "a refresh token a minute after its replacement")
		g.refresh(third).refused(t, "the newest one of a family that has ended")
	})
}

// wider fails unless more was asked for than was granted.
func (a page) wider(t *testing.T) {
	t.Helper()
	if a.status != 400 || !strings.Contains(a.body, "invalid_scope") {
		t.Errorf("a wider scope = %d %s", a.status, a.body)
	}
}

// Once the successor has been used, two clients hold the tokens of one grant.
func TestReplacedTokenOfAnAgentWhoseSuccessorWasUsedEndsTheFamily(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		g := p.agent()
		first := g.begin()
		second := g.refresh(first).member("refresh_token")
		a := g.refresh(second)
		time.Sleep(5 * time.Second)
		g.refresh(first).refused(t, "the first of three")
		time.Sleep(15 * time.Second)
		g.refresh(a.member("refresh_token")).refused(t, "the newest one")
		if u := p.bears(a.member("access_token")); u.status != 401 {
			t.Errorf("the access token of an ended family = %d", u.status)
		}
	})
}

func TestParallelRefreshesOfAnAgentHaveOneSuccessor(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		g := p.agent()
		refresh := g.begin()
		answers := make([]page, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				answers[i] = g.send(c.person().at(i), "grant_type", "refresh_token", "refresh_token", refresh)
			})
		}
		all.Wait()
		for _, a := range answers {
			if a.member("refresh_token") != answers[0].member("refresh_token") {
				t.Errorf("two refreshes of one token are answered %s and %s", answers[0].body, a.body)
			}
		}
		g.refresh(answers[0].member("refresh_token")).member("refresh_token")
	})
}

func TestRevokedFamilyOfAnAgentIsNotAnsweredOnceMore(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		g := p.agent()
		first := g.begin()
		next := g.refresh(first).member("refresh_token")
		if a := p.post("/oauth/revoke", "client_id", g.id, "token", next); a.status != 200 {
			t.Fatalf("revoke = %d %s", a.status, a.body)
		}
		time.Sleep(15 * time.Second) // the other node has heard of it
		g.refresh(first).refused(t, "a refresh token of a revoked family")
		g.refresh(first).refused(t, "a refresh token of a revoked family")
	})
}

// Protocol 3.2: the old token is invalid immediately.
func TestReplacedTokenIsAnsweredNoSecondTimeWithoutTheWindow(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		first := p.redeemed(p.granted()).member("refresh_token")
		p.token("grant_type", "refresh_token", "refresh_token", first).member("refresh_token")
		p.token("grant_type", "refresh_token", "refresh_token", first).refused(t,
			"the refresh token of a registered application")
	})
	t.Run("off", func(t *testing.T) {
		c := newCluster(t, 1, func(c *keystile.Config) { c.OAuth.AgentsRefreshWindow = -1 })
		g := c.person().agent()
		first := g.begin()
		g.refresh(first).member("refresh_token")
		g.refresh(first).refused(t, "an agent's, where there is no window")
	})
}
