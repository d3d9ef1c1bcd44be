package fake

import (
	"crypto/rand"
	"sync"
	"time"
)

const (
	lifetime = 5 * time.Minute // of a code and of an access token
	maxKept  = 1024            // codes, and as many access tokens
)

// issuer hands out codes and access tokens.
type issuer struct {
	mu     sync.Mutex
	codes  grantCache
	tokens grantCache
	visits map[string]int // by provider and person: never more than there are of both
}

// grant holds what a test user has agreed to.
type grant struct {
	provider string
	user     testUser
	union    bool   // there is a unionid by now
	back     string // the redirect_uri of the code
	until    time.Time
	used     bool

	challenge, nonce, scope, fault string // of OpenID Connect, GitHub and feishu
}

// verdict is the state of a code.
type verdict int

const (
	valid verdict = iota
	unknown
	expired
	used
)

func newIssuer() *issuer {
	return &issuer{codes: newGrantCache(), tokens: newGrantCache(), visits: map[string]int{}}
}

// code begins a visit. More adds to what its code stands for.
func (d *issuer) code(provider string, p testUser, back string, more ...func(*grant)) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	visit := provider + "|" + p.Key
	d.visits[visit]++
	code := rand.Text()
	g := &grant{
		provider: provider, user: p, back: back, until: time.Now().Add(lifetime),
		union: p.unionFrom > 0 && d.visits[visit] >= p.unionFrom,
	}
	for _, add := range more {
		add(g)
	}
	d.codes.put(code, g)
	return code
}

// granted returns the grant of a code that can be redeemed, and leaves it.
func (d *issuer) granted(provider, code string) (grant, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.codes.kept[code]
	if g == nil || g.provider != provider || g.used || !time.Now().Before(g.until) {
		return grant{}, false
	}
	return *g, true
}

// application issues an access token for no user.
func (d *issuer) application(provider string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	token := "FAKE" + rand.Text()
	d.tokens.put(token, &grant{provider: provider, until: time.Now().Add(lifetime)})
	return token
}

// redeem exchanges a code for an access token.
func (d *issuer) redeem(provider, code string) (token string, g grant, v verdict) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.codes.kept[code]
	switch {
	case found == nil || found.provider != provider:
		return "", grant{}, unknown
	case found.used:
		return "", grant{}, used
	case !time.Now().Before(found.until):
		return "", grant{}, expired
	}
	found.used = true
	token = "FAKE" + rand.Text()
	t := *found
	t.until = time.Now().Add(lifetime)
	d.tokens.put(token, &t)
	return token, t, valid
}

// holder returns the grant of an access token.
func (d *issuer) holder(provider, token string) (grant, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.tokens.kept[token]
	if g == nil || g.provider != provider || !time.Now().Before(g.until) {
		return grant{}, false
	}
	return *g, true
}

// grantCache keeps the newest maxKept.
type grantCache struct {
	kept  map[string]*grant
	order []string
}

func newGrantCache() grantCache { return grantCache{kept: map[string]*grant{}} }

func (s *grantCache) put(key string, g *grant) {
	if len(s.order) == maxKept {
		delete(s.kept, s.order[0])
		s.order = append(s.order[:0], s.order[1:]...)
	}
	s.kept[key] = g
	s.order = append(s.order, key)
}
