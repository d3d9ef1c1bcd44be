package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// kind is something that strangers ask for. Of a hundred requests share are of it.
type kind struct {
	name  string
	share int
	make  func(*rand.Rand, serving.FirstRun) request
}

type request struct{ method, path, bearer, kind, body string }

const (
	aForm = "application/x-www-form-urlencoded"
	aJSON = "application/json"
)

func get(path string) func(*rand.Rand, serving.FirstRun) request {
	return func(*rand.Rand, serving.FirstRun) request { return request{method: "GET", path: path} }
}

func post(path string, pairs ...string) func(*rand.Rand, serving.FirstRun) request {
	return func(r *rand.Rand, p serving.FirstRun) request {
		return request{method: "POST", path: path, kind: aForm, body: fill(r, p, pairs)}
	}
}

func bad(method, path string) func(*rand.Rand, serving.FirstRun) request {
	return func(r *rand.Rand, _ serving.FirstRun) request {
		return request{method: method, path: path, bearer: fmt.Sprintf("eyJhbGciOiJFUzI1NiJ9.e30.%x", r.Uint64())}
	}
}

// fill writes a form in which {n} is drawn and {app} is a client_id that exists.
func fill(r *rand.Rand, p serving.FirstRun, pairs []string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], strings.NewReplacer("{n}", fmt.Sprint(r.Uint32()), "{app}", p.App.ID, "{redirect}",
			p.App.Redirect).Replace(pairs[i+1]))
	}
	return v.Encode()
}

func query(path string, pairs ...string) func(*rand.Rand, serving.FirstRun) request {
	return func(r *rand.Rand, p serving.FirstRun) request {
		return request{method: "GET", path: path + "?" + fill(r, p, pairs)}
	}
}

// guess is a sign-in; it is sent by connections of its own, since it waits in line.
func guess(r *rand.Rand, p serving.FirstRun) request {
	name := fmt.Sprintf("nobody%d", r.Uint32())
	if r.IntN(20) == 0 {
		name = fmt.Sprintf("known%d", r.IntN(honestUsers))
	}
	return post("/oauth/signin", "username", name, "password", "guess {n}")(r, p)
}

// kinds are all that strangers can ask for without signing in; guess is beside them.
var kinds = []kind{
	{"sign-in, malformed", 6, post("/oauth/signin", "username", "", "password", "{n}")},
	{"token, unknown client", 8, post("/oauth/token", "grant_type", "authorization_code", "code", "{n}", "redirect_uri",
		"{redirect}", "client_id", "ks{n}", "client_secret", "{n}")},
	{"token, wrong secret", 8, post("/oauth/token", "grant_type", "client_credentials", "client_id", "{app}",
		"client_secret", "{n}")},
	{"revoke, wrong secret", 6, post("/oauth/revoke", "token", "{n}", "client_id", "{app}", "client_secret", "{n}")},
	{"userinfo, no token", 6, get("/oauth/userinfo")},
	{"userinfo, bad token", 8, bad("GET", "/oauth/userinfo")},
	{"quota, bad token", 6, bad("GET", "/api/v1/quota")},
	{"verify, no token", 6, get("/api/v1/verify?product=ai")},
	{"verify, bad token", 6, bad("GET", "/api/v1/verify?product=ai")},
	{"connect, login", 6, query("/connect.php", "act", "login", "appid", "{app}", "appkey", "{n}", "type", "self",
		"redirect_uri", "{redirect}")},
	{"connect, callback", 6, query("/connect.php", "act", "callback", "appid", "{app}", "appkey", "{n}", "code", "{n}")},
	{"connect, check_sso", 4, query("/connect.php", "act", "check_sso", "appid", "{app}")},
	{"check_token", 4, query("/check_token.php", "access_token", "{n}")},
	{"authorize", 6, query("/oauth/authorize", "response_type", "code", "client_id", "{app}", "redirect_uri", "{redirect}",
		"scope", "openid", "state", "{n}")},
	{"a code to scan", 4, get("/oauth/signin/qr")},
	{"a code by mail", 4, post("/oauth/signin/email", "address", "nobody{n}@example.com")},
	{"nothing there", 3, func(r *rand.Rand, _ serving.FirstRun) request {
		return request{method: "GET", path: fmt.Sprintf("/wp-login-%d.php", r.Uint32())}
	}},
	{"mcp, no token", 3, func(*rand.Rand, serving.FirstRun) request {
		return request{method: "POST", path: "/api/mcp", kind: aJSON, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`}
	}},
}

// draw picks one of the kinds.
func draw(r *rand.Rand) kind {
	n := r.IntN(100)
	for _, k := range kinds {
		if n -= k.share; n < 0 {
			return k
		}
	}
	return kinds[0]
}

// tally counts answers by kind and status; status 0 is no answer.
type tally struct {
	mu sync.Mutex
	of map[string]map[int]int
}

func newTally() *tally { return &tally{of: map[string]map[int]int{}} }

func (t *tally) count(kind string, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[kind] == nil {
		t.of[kind] = map[int]int{}
	}
	t.of[kind][status]++
}

// caller sends requests over one connection, one after the other.
type caller struct {
	address string
	conn    net.Conn
	read    *bufio.Reader
}

// ask sends a request that a proxy says is from an address, and returns its status.
func (c *caller) ask(r request, from netip.Addr) (status int) {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.address, patience)
		if err != nil {
			return 0
		}
		c.conn, c.read = conn, bufio.NewReader(conn)
	}
	text := r.method + " " + r.path + " HTTP/1.1\r\nHost: 127.0.0.1:9\r\nX-Forwarded-For: " + from.String() + "\r\n"
	if r.bearer != "" {
		text += "Authorization: Bearer " + r.bearer + "\r\n"
	}
	if r.body != "" {
		text += fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n", r.kind, len(r.body))
	}
	c.conn.SetDeadline(time.Now().Add(2 * patience))
	if _, err := io.WriteString(c.conn, text+"\r\n"+r.body); err != nil {
		c.close()
		return 0
	}
	resp, err := http.ReadResponse(c.read, nil)
	if err != nil {
		c.close()
		return 0
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err != nil || resp.Close {
		c.close()
	}
	return resp.StatusCode
}

func (c *caller) close() {
	if c.conn != nil {
		c.conn.Close()
	}
	c.conn = nil
}
