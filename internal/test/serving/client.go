package serving

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// Client talks to one server. Each request has an id, which its answer repeats.
type Client struct {
	base     string
	http     *http.Client
	admin    *http.Client
	FirstRun FirstRun
	Cookie   string
}

var requests atomic.Int64

// NewClient returns a client of the server at an address that has this data folder.
func NewClient(address, data string) (*Client, error) {
	c := &Client{
		base: "http://" + address,
		http: &http.Client{
			Timeout: Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 32},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		admin: AdminClient(data, Patience),
	}
	var err error
	c.FirstRun, err = ReadFirstRun(data)
	return c, err
}

// Close gives up the connections.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.admin.CloseIdleConnections()
}

// FirstRun holds the needed part of first-run.json.
type FirstRun struct {
	Admin struct{ Username, Password string }
	App   App
}

// App is an application with its secret.
type App struct {
	ID       string `json:"client_id"`
	Secret   string `json:"client_secret"`
	Redirect string `json:"redirect_uri"`
}

// ReadFirstRun reads the file in a data folder.
func ReadFirstRun(data string) (p FirstRun, err error) {
	text, err := os.ReadFile(filepath.Join(data, "first-run.json"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil && (p.App.ID == "" || p.Admin.Password == "") {
		err = fmt.Errorf("first-run.json names no administrator or no application")
	}
	return p, err
}

// Answer holds a response of the server.
type Answer struct {
	ID     string // of the request
	Status int
	Header http.Header
	Body   []byte
}

func (a Answer) String() string { return fmt.Sprintf("%d %s", a.Status, bytes.TrimSpace(a.Body)) }

// Reply holds the fields read from answers of the OAuth endpoints.
type Reply struct {
	Error   string `json:"error"`
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// Reply reads the body.
func (a Answer) Reply() (r Reply) {
	json.Unmarshal(a.Body, &r) // a body that is no JSON says nothing, and no check takes that for an answer
	return r
}

// Post sends a form, once. An answer 5xx is an error.
func (c *Client) Post(path string, form url.Values) (Answer, error) {
	r, err := http.NewRequest(http.MethodPost, c.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(c.http, r)
}

// PostJSON sends a document for the session of the cookie.
func (c *Client) PostJSON(path, document string) (Answer, error) {
	r, err := http.NewRequest(http.MethodPost, c.base+path, strings.NewReader(document))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Cookie", c.Cookie)
	return do(c.http, r)
}

// Call sends a document with a token.
func (c *Client) Call(path, token, document string) (Answer, error) {
	r, err := http.NewRequest(http.MethodPost, c.base+path, strings.NewReader(document))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	return do(c.http, r)
}

// Get is Post without a form and with one header.
func (c *Client) Get(path, header, value string) (Answer, error) {
	r, err := http.NewRequest(http.MethodGet, c.base+path, nil)
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set(header, value)
	return do(c.http, r)
}

func do(h *http.Client, r *http.Request) (Answer, error) {
	a := Answer{ID: fmt.Sprintf("request-%d", requests.Add(1))}
	r.Header.Set("X-Request-Id", a.ID)
	resp, err := h.Do(r)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.Status, a.Header = resp.StatusCode, resp.Header
	a.Body, err = io.ReadAll(resp.Body)
	if err == nil && a.Status >= 500 {
		err = fmt.Errorf("%s %s is answered %v", r.Method, r.URL.Path, a)
	}
	return a, err
}

// Run has the server run an admin command; flags are name, value, name, value.
func (c *Client) Run(name string, into any, flags []string, words ...string) error {
	r, err := Command(name, flags, words...)
	if err != nil {
		return err
	}
	a, err := do(c.admin, r)
	if err != nil {
		return err
	}
	var message Result
	if err := json.Unmarshal(a.Body, &message); err != nil || message.Error != "" {
		return fmt.Errorf("%s is answered %v", name, a)
	}
	return json.Unmarshal([]byte(message.Output), into)
}

// SignIn signs the administrator of the first run in.
func (c *Client) SignIn() error {
	a, err := c.Post("/oauth/signin", url.Values{"username": {c.FirstRun.Admin.Username},
		"password": {c.FirstRun.Admin.Password}})
	if err != nil {
		return err
	}
	for _, cookie := range (&http.Response{Header: a.Header}).Cookies() {
		if cookie.Name == "open_sso_token" {
			c.Cookie = cookie.Name + "=" + cookie.Value
			return nil
		}
	}
	return fmt.Errorf("the sign-in is answered %v", a)
}

// Form is a request of the first run's application: name, value, name, value.
func (c *Client) Form(pairs ...string) url.Values {
	v := url.Values{"client_id": {c.FirstRun.App.ID}, "client_secret": {c.FirstRun.App.Secret}}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// RedirectURI receives authorization codes. Nobody listens there.
const RedirectURI = "http://127.0.0.1/cb"

// Authorize returns a code and its verifier.
func (c *Client) Authorize() (code, verifier string, err error) {
	verifier = rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {c.FirstRun.App.ID}, "redirect_uri": {RedirectURI},
		"scope":          {"openid profile"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	a, err := c.Get("/oauth/authorize?"+query.Encode(), "Cookie", c.Cookie)
	if err != nil {
		return "", "", err
	}
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil || a.Status != http.StatusFound || to.Query().Get("code") == "" {
		return "", "", fmt.Errorf("authorize is answered %v", a)
	}
	return to.Query().Get("code"), verifier, nil
}

// Exchange redeems a code.
func (c *Client) Exchange(code, verifier string) (Answer, error) {
	return Granted(c.Post("/oauth/token", c.Form("grant_type", "authorization_code", "code", code, "redirect_uri",
		RedirectURI, "code_verifier", verifier)))
}

// Refresh redeems a refresh token.
func (c *Client) Refresh(token string) (Answer, error) {
	return Granted(c.Post("/oauth/token", c.Form("grant_type", "refresh_token", "refresh_token", token)))
}

// Granted makes an answer without a token an error.
func Granted(a Answer, err error) (Answer, error) {
	if err == nil && (a.Status != http.StatusOK || a.Reply().Access == "") {
		err = fmt.Errorf("a token is answered %v", a)
	}
	return a, err
}

// Revoke ends a token.
func (c *Client) Revoke(token string) (Answer, error) {
	a, err := c.Post("/oauth/revoke", c.Form("token", token))
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("a revocation is answered %v", a)
	}
	return a, err
}

// JTIOf reads the id of an access token.
func JTIOf(token string) string {
	var claims struct{ JTI string }
	parts := strings.Split(token, ".")
	if len(parts) == 3 {
		text, _ := base64.RawURLEncoding.DecodeString(parts[1])
		json.Unmarshal(text, &claims)
	}
	return claims.JTI
}

// JSON reads the body.
func (a Answer) JSON(into any) error { return json.Unmarshal(a.Body, into) }
