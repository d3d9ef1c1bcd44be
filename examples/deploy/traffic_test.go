package deploy

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// newUpstream starts what is behind the gateway and the tools.
func newUpstream(t *testing.T) *httptest.Server {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/broken") {
			w.WriteHeader(http.StatusInternalServerError)
		}
		io.WriteString(w, "{}")
	}))
	t.Cleanup(up.Close)
	return up
}

// use sends a node one request after the other, of every kind, again and again until the test ends.
func use(t *testing.T, nodes []*node) {
	t.Helper()
	over := make(chan struct{})
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			for {
				if err := n.round(); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-over:
					return
				case <-time.After(200 * time.Millisecond): // some rounds in each scrape are enough
				}
			}
		})
	}
	t.Cleanup(func() { close(over); all.Wait() })
}

// round does what a person, an application, an agent and a stranger do.
func (n *node) round() error {
	if err := n.SignIn(); err != nil {
		return err
	}
	code, verifier, err := n.Authorize()
	if err != nil {
		return err
	}
	a, err := n.Exchange(code, verifier)
	if err != nil {
		return err
	}
	refreshed, err := n.Refresh(a.Reply().Refresh)
	if err != nil {
		return err
	}
	machine, err := serving.Granted(n.Post("/oauth/token", n.Form("grant_type", "client_credentials")))
	if err != nil {
		return err
	}
	token := "Bearer " + machine.Reply().Access
	for _, r := range []request{
		{"POST", "/oauth/token", n.Form("grant_type", "refresh_token", "refresh_token", "rt_unknown").Encode(), "", 400},
		wrong(stranger(), 401),
		{"GET", "/.well-known/openid-configuration", "", "", 200},
		{"GET", "/oauth/userinfo", "", "Authorization: Bearer " + refreshed.Reply().Access, 200},
		{"GET", "/ai/fine/1", "", "Authorization: " + token, 200},
		{"GET", "/ai/broken", "", "Authorization: " + token, 500},
		{"GET", "/ai/fine/1", "", "", 401},
		{"GET", "/api/v1/quota", "", "Authorization: " + token, 200},
		{"POST", "/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, "Authorization: " + token, 200},
		{"POST", "/api/mcp", call("fine", `{"n":1}`), "Authorization: " + token, 200},
		{"POST", "/api/mcp", call("fine", `{"n":"one"}`), "Authorization: " + token, 200},
		{"POST", "/api/mcp", call("broken", `{}`), "Authorization: " + token, 200},
		{"GET", "/api/console/overview", "", "Cookie: " + n.Cookie, 200},
		{"GET", "/connect.php?act=login", "", "", 200},
		{"POST", "/oauth/revoke", n.Form("token", refreshed.Reply().Refresh).Encode(), "", 200},
	} {
		if err := n.send(r); err != nil {
			return err
		}
	}
	return n.lock()
}

// lock has an address fail until it is locked. Where the server that counts is late, that takes another attempt.
func (n *node) lock() (err error) {
	from := stranger()
	for range 10 {
		if err = n.send(wrong(from, http.StatusTooManyRequests)); err == nil {
			return nil
		}
	}
	return err
}

// wrong is a sign-in with a wrong password, for a name that nobody has tried: each name has a pause of its own.
func wrong(from string, want int) request {
	form := url.Values{"username": {"nobody-" + rand.Text()}, "password": {"wrong"}}
	return request{"POST", "/oauth/signin", form.Encode(), "X-Forwarded-For: " + from, want}
}

func call(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sky__` + tool + `","arguments":` + arguments + `}}`
}

var strangers struct {
	sync.Mutex
	n int
}

// stranger returns an address of a network that nobody has come from.
func stranger() string {
	strangers.Lock()
	defer strangers.Unlock()
	strangers.n++
	return fmt.Sprintf("%d.%d.1.1", 20+strangers.n%200, strangers.n/200)
}

type request struct {
	method, path, body, header string
	want                       int
}

func (n *node) send(r request) error {
	sent, err := http.NewRequest(r.method, "http://"+n.server.Address+r.path, strings.NewReader(r.body))
	if err != nil {
		return err
	}
	sent.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if strings.HasPrefix(r.body, "{") {
		sent.Header.Set("Content-Type", "application/json")
	}
	if name, value, is := strings.Cut(r.header, ": "); is {
		sent.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(sent)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != r.want {
		err = fmt.Errorf("%s %s is answered %d %s, want %d", r.method, r.path, resp.StatusCode, body, r.want)
	}
	return err
}
