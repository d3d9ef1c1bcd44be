package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/balancer"
)

// person is somebody with a browser and a program of theirs. All is asked through the balancer.
type person struct {
	*world
	rand             *rand.Rand
	id               int
	name             string
	cookie           string // of the session
	access           string
	refresh          string
	openid           string
	machine          string    // a token of the application's own
	wrote, connected time.Time // when a mail was asked for, and a device connected
}

// password is that of every person here.
const password = "a password of the soak"

// sessionCookie is the cookie of a session.
const sessionCookie = "open_sso_token"

// patience bounds the time of an answer.
const patience = 15 * time.Second

// request makes a request from the person's own address.
func (p *person) request(method, path, body string, headers ...string) (*http.Request, error) {
	r, err := http.NewRequest(method, "http://balanced"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	p.meter.requests.Add(1)
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.0.%d.%d", p.id/250, p.id%250+1))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r, nil
}

// send sends a request once, and reads the answer.
func (p *person) send(method, path, body string, headers ...string) answer {
	resp, a := p.begin(context.Background(), method, path, body, headers...)
	if resp != nil {
		a.body, a.err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	a.done = time.Now()
	return a
}

// took notes what an answer begins with.
func (a *answer) took(resp *http.Response) {
	a.status, a.header, a.node = resp.StatusCode, resp.Header, resp.Header.Get(balancer.NodeHeader)
}

func (p *person) get(path string, headers ...string) answer {
	return p.send(http.MethodGet, path, "", headers...)
}

// post sends a form; headers are name, value, name, value.
func (p *person) post(path string, form url.Values, headers ...string) answer {
	return p.send(http.MethodPost, path, form.Encode(), append(headers, "Content-Type",
		"application/x-www-form-urlencoded")...)
}

// granted holds the fields read from a token answer.
type granted struct {
	Error   string `json:"error"`
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	User    struct {
		OpenID string `json:"openid"`
	} `json:"user"`
}

func (a answer) granted() (g granted) {
	json.Unmarshal(a.body, &g) // a body that is no JSON says nothing, and nobody takes that for a token
	return g
}

// good notes an answer that has to have a status, and reports whether it has.
func (p *person) good(kind string, a answer, status int) bool {
	ok := a.err == nil && a.status == status
	p.meter.note(kind, a, ok)
	return ok
}

// token asks for tokens, and notes the answer.
func (p *person) token(kind string, form url.Values) (granted, answer) {
	a := p.post("/oauth/token", form)
	g := a.granted()
	ok := a.err == nil && a.status == http.StatusOK && g.Access != ""
	p.meter.note(kind, a, ok)
	if !ok {
		return granted{}, a
	}
	p.knows(g.Access)
	return g, a
}

// knows looks whether the key that signed a token is among those that are published.
func (p *person) knows(token string) {
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	var h struct{ Kid string }
	if err != nil || json.Unmarshal(text, &h) != nil || h.Kid == "" {
		p.meter.wrong("JWKS", "an access token has no kid: %q", head)
		return
	}
	if _, known := p.keys.Load(h.Kid); known {
		return
	}
	a := p.get("/oauth/jwks")
	var set struct{ Keys []struct{ Kid string } }
	if !p.good("JWKS", a, http.StatusOK) {
		return
	}
	if err := json.Unmarshal(a.body, &set); err != nil {
		p.meter.wrong("JWKS", "it is %v", a)
	}
	found := false
	for _, k := range set.Keys {
		p.keys.Store(k.Kid, true)
		found = found || k.Kid == h.Kid
	}
	if !found {
		p.meter.wrong("JWKS", "a token is signed by %s, which is not published: %v", h.Kid, a)
	}
}
