package powercut

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// client talks to one server. Each request has an id, which its answer repeats: so the answer
// is found in the trace.
type client struct {
	base   string
	http   *http.Client
	admin  *http.Client
	paper  paper
	cookie string
}

var requests atomic.Int64

func newClient(address, data string) (*client, error) {
	socket := filepath.Join(data, "admin.sock")
	c := &client{
		base: "http://" + address,
		http: &http.Client{
			Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 32},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		admin: &http.Client{Timeout: patience, Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", socket)
			},
		}},
	}
	var err error
	c.paper, err = readPaper(data)
	return c, err
}

func (c *client) close() {
	c.http.CloseIdleConnections()
	c.admin.CloseIdleConnections()
}

// paper is first-run.json, as far as it is needed.
type paper struct {
	Admin struct{ Username, Password string }
	App   struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
}

func readPaper(data string) (p paper, err error) {
	text, err := os.ReadFile(filepath.Join(data, "first-run.json"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil && (p.App.ID == "" || p.Admin.Password == "") {
		err = fmt.Errorf("first-run.json names no administrator or no application")
	}
	return p, err
}

// answer is what came back.
type answer struct {
	id     string // of the request
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, bytes.TrimSpace(a.body)) }

type reply struct {
	Error   string `json:"error"`
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

func (a answer) reply() (r reply) {
	json.Unmarshal(a.body, &r) // a body that is no JSON says nothing, and no check takes that for an answer
	return r
}

func (c *client) post(path string, form url.Values) (answer, error) {
	r, err := http.NewRequest(http.MethodPost, c.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(c.http, r)
}

func (c *client) get(path, header, value string) (answer, error) {
	r, err := http.NewRequest(http.MethodGet, c.base+path, nil)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set(header, value)
	return do(c.http, r)
}

func do(h *http.Client, r *http.Request) (answer, error) {
	a := answer{id: fmt.Sprintf("powercut-%d", requests.Add(1))}
	r.Header.Set("X-Request-Id", a.id)
	resp, err := h.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.status, a.header = resp.StatusCode, resp.Header
	a.body, err = io.ReadAll(resp.Body)
	if err == nil && a.status >= 500 {
		err = fmt.Errorf("%s %s is answered %v", r.Method, r.URL.Path, a)
	}
	return a, err
}

// run has the server run an admin command; flags are name, value, name, value.
func (c *client) run(name string, into any, flags []string, words ...string) error {
	var body struct {
		Command string `json:"command"`
		Args    struct {
			Flags map[string][]string `json:"flags"`
			Words []string            `json:"words"`
		} `json:"args"`
	}
	body.Command, body.Args.Words = name, words
	body.Args.Flags = map[string][]string{"json": {"true"}}
	for i := 0; i < len(flags); i += 2 {
		body.Args.Flags[flags[i]] = flags[i+1 : i+2]
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, "http://keystile/", bytes.NewReader(text))
	if err != nil {
		return err
	}
	a, err := do(c.admin, r)
	if err != nil {
		return err
	}
	var said struct{ Output, Error string }
	if err := json.Unmarshal(a.body, &said); err != nil || said.Error != "" {
		return fmt.Errorf("%s is answered %v", name, a)
	}
	return json.Unmarshal([]byte(said.Output), into)
}

func (c *client) signIn() error {
	a, err := c.post("/oauth/signin", url.Values{"username": {c.paper.Admin.Username}, "password": {c.paper.Admin.Password}})
	if err != nil {
		return err
	}
	for _, cookie := range (&http.Response{Header: a.header}).Cookies() {
		if cookie.Name == "open_sso_token" {
			c.cookie = cookie.Name + "=" + cookie.Value
			return nil
		}
	}
	return fmt.Errorf("the sign-in is answered %v", a)
}

func (c *client) form(pairs ...string) url.Values {
	v := url.Values{"client_id": {c.paper.App.ID}, "client_secret": {c.paper.App.Secret}}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

const redirectURI = "http://127.0.0.1/cb"

// authorize returns a code and its verifier.
func (c *client) authorize() (code, verifier string, err error) {
	verifier = rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {c.paper.App.ID}, "redirect_uri": {redirectURI}, "scope": {"openid profile"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	a, err := c.get("/oauth/authorize?"+query.Encode(), "Cookie", c.cookie)
	if err != nil {
		return "", "", err
	}
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusFound || to.Query().Get("code") == "" {
		return "", "", fmt.Errorf("authorize is answered %v", a)
	}
	return to.Query().Get("code"), verifier, nil
}

func (c *client) exchange(code, verifier string) (answer, error) {
	return granted(c.post("/oauth/token", c.form("grant_type", "authorization_code", "code", code, "redirect_uri", redirectURI, "code_verifier", verifier)))
}

func (c *client) refresh(token string) (answer, error) {
	return granted(c.post("/oauth/token", c.form("grant_type", "refresh_token", "refresh_token", token)))
}

func granted(a answer, err error) (answer, error) {
	if err == nil && (a.status != http.StatusOK || a.reply().Access == "") {
		err = fmt.Errorf("a token is answered %v", a)
	}
	return a, err
}

func (c *client) revoke(token string) (answer, error) {
	a, err := c.post("/oauth/revoke", c.form("token", token))
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("a revocation is answered %v", a)
	}
	return a, err
}

// jtiOf reads the id of an access token.
func jtiOf(token string) string {
	var claims struct{ JTI string }
	parts := strings.Split(token, ".")
	if len(parts) == 3 {
		text, _ := base64.RawURLEncoding.DecodeString(parts[1])
		json.Unmarshal(text, &claims)
	}
	return claims.JTI
}
