package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// population holds the honest users of a scenario.
type population struct {
	firstRun serving.FirstRun
	users    []*honestUser
	hurry    bool

	mu         sync.Mutex
	lived      int             // have done all they came for
	signIns    []time.Duration // what they took
	others     []time.Duration // every other request
	complaints []string
}

const password = "a password of honest people"

// honestUser is one user with a browser.
type honestUser struct {
	*population
	name    string
	from    netip.Addr
	cookies map[string]string
	base    string
}

func newPopulation(o options, s *server, data string) (c *population, err error) {
	c = &population{hurry: o.hurry}
	admin, err := serving.NewClient(s.address, data)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	c.firstRun = admin.FirstRun
	var made any
	// 200 people in an application of the free tier would be too many
	if err := admin.Run("app set", &made, []string{"tier", "enterprise"}, c.firstRun.App.ID); err != nil {
		return nil, err
	}
	for i := range max(4, o.of(honestUsers)) {
		name := fmt.Sprintf("known%d", i)
		if i/2%2 == 1 {
			name = fmt.Sprintf("new%d", i)
		}
		if err := admin.Run("user create", &made, []string{"username", name, "password", password}); err != nil {
			return nil, err
		}
		c.users = append(c.users, &honestUser{population: c, name: name, from: home(i), cookies: map[string]string{}})
	}
	return c, nil
}

// settle has those sign in once whose browsers are to be known.
func (c *population) settle(ctx context.Context, s *server) error {
	for _, p := range c.users {
		if p.base = "http://" + s.address; !strings.HasPrefix(p.name, "known") {
			continue
		}
		if _, err := p.signIn(ctx); err != nil {
			return err
		}
		delete(p.cookies, "open_sso_token")
	}
	c.signIns, c.others = nil, nil
	return nil
}

// live has people come one after the other, as the flood goes on.
func (c *population) live(ctx context.Context, f *flood) {
	var all sync.WaitGroup
	for i, p := range c.users {
		p.base = "http://" + f.server.address
		for f.done() < float64(i)/float64(len(c.users)+1) && !f.over.Load() && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		all.Go(func() {
			err := p.visit(ctx)
			c.mu.Lock()
			defer c.mu.Unlock()
			if err != nil {
				c.complaints = append(c.complaints, fmt.Sprintf("%s at %s: %v", p.name, p.from, err))
				return
			}
			c.lived++
		})
	}
	all.Wait()
}

// visit is one use of the service.
func (p *honestUser) visit(ctx context.Context) error {
	code, err := p.signIn(ctx)
	if err != nil {
		return err
	}
	tokens, err := p.token(ctx, "authorization_code", "code", code.text, "redirect_uri", p.firstRun.App.Redirect,
		"code_verifier", code.verifier)
	if err != nil {
		return err
	}
	for range 3 {
		if tokens, err = p.token(ctx, "refresh_token", "refresh_token", tokens.Refresh); err != nil {
			return err
		}
		for _, path := range []string{"/oauth/userinfo", "/api/v1/verify?product=ai", "/api/v1/quota"} {
			if _, err := p.ask(ctx, http.MethodGet, path, nil, tokens.Access, http.StatusOK); err != nil {
				return err
			}
			p.pause()
		}
	}
	return nil
}

func (p *honestUser) pause() {
	if !p.hurry {
		time.Sleep(time.Second)
	}
}

type code struct{ text, verifier string }

var hidden = regexp.MustCompile(`name="query" value="([^"]*)"`)

// signIn goes the way of a browser: the application's link, the form, and back.
func (p *honestUser) signIn(ctx context.Context) (c code, err error) {
	c.verifier = rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(c.verifier))
	asked := url.Values{
		"response_type": {"code"}, "client_id": {p.firstRun.App.ID}, "redirect_uri": {p.firstRun.App.Redirect},
		"scope":          {"openid profile"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	form, err := p.ask(ctx, http.MethodGet, "/oauth/authorize?"+asked.Encode(), nil, "", http.StatusOK)
	if err != nil {
		return c, err
	}
	carried := hidden.FindStringSubmatch(form.body)
	if carried == nil {
		return c, fmt.Errorf("the form carries no request: %.200s", form.body)
	}
	p.pause()
	began := time.Now()
	in, err := p.ask(ctx, http.MethodPost, "/oauth/signin", url.Values{"username": {p.name}, "password": {password},
		"query": {html.UnescapeString(carried[1])}}, "", http.StatusSeeOther)
	if err != nil {
		return c, fmt.Errorf("after %.1f s: %w", time.Since(began).Seconds(), err)
	}
	p.mu.Lock()
	p.signIns = append(p.signIns, time.Since(began))
	p.mu.Unlock()
	back, err := p.ask(ctx, http.MethodGet, strings.TrimPrefix(in.location, origin), nil, "", http.StatusFound)
	if err != nil {
		return c, err
	}
	to, err := url.Parse(back.location)
	if c.text = to.Query().Get("code"); err != nil || c.text == "" {
		return c, fmt.Errorf("no code in %q: %v", back.location, err)
	}
	return c, nil
}

type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

func (p *honestUser) token(ctx context.Context, grant string, pairs ...string) (t tokens, err error) {
	form := url.Values{"grant_type": {grant}, "client_id": {p.firstRun.App.ID}, "client_secret": {p.firstRun.App.Secret}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	a, err := p.ask(ctx, http.MethodPost, "/oauth/token", form, "", http.StatusOK)
	if err != nil {
		return t, err
	}
	if err = json.Unmarshal([]byte(a.body), &t); err == nil && (t.Access == "" || t.Refresh == "") {
		err = fmt.Errorf("no tokens in %s", a.body)
	}
	return t, err
}

type answer struct{ location, body string }

var browser = &http.Client{
	Timeout:       2 * patience,
	Transport:     &http.Transport{MaxIdleConnsPerHost: honestUsers},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// ask sends a request as a proxy hands it on. Any other answer than the one that is due is an
// error.
func (p *honestUser) ask(ctx context.Context, method, path string, form url.Values, bearer string,
	want int) (a answer, err error) {
	r, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return a, err
	}
	r.Header.Set("X-Forwarded-For", p.from.String())
	if form != nil {
		r.Header.Set("Content-Type", aForm)
		r.Header.Set("Origin", origin)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	} else {
		for name, value := range p.cookies {
			r.AddCookie(&http.Cookie{Name: name, Value: value})
		}
	}
	began := time.Now()
	resp, err := browser.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	for _, c := range resp.Cookies() {
		p.cookies[c.Name] = c.Value
	}
	if path != "/oauth/signin" {
		p.mu.Lock()
		p.others = append(p.others, time.Since(began))
		p.mu.Unlock()
	}
	route, _, _ := strings.Cut(path, "?")
	if resp.StatusCode != want {
		return a, fmt.Errorf("%s %s is answered %d (Retry-After %q): %.300s", method, route, resp.StatusCode,
			resp.Header.Get("Retry-After"), text)
	}
	return answer{resp.Header.Get("Location"), string(text)}, nil
}

func (c *population) report(o options) {
	o.printf("\nhonest people: %d, of whom %d did all they came for; %d requests\n", len(c.users), c.lived,
		len(c.signIns)+len(c.others))
	for name, took := range map[string][]time.Duration{"sign-ins": c.signIns, "other requests": c.others} {
		if slices.Sort(took); len(took) > 0 {
			o.printf("  %s: half within %.2f s, the slowest took %.2f s\n", name, took[len(took)/2].Seconds(),
				took[len(took)-1].Seconds())
		}
	}
}
