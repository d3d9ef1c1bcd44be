//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// service is a keystile that serves a data folder.
type service struct {
	*process
	binary string
	data   string
	store  []string // the flags that lead to its store; nil: it is in the data folder
	app    struct{ ID, Secret string }
	admin  struct{ Username, Password string }
	cookie string // of the administrator, who has signed in: a header line
}

const (
	origin      = "http://127.0.0.1:9" // what tokens say, whatever the port is; nobody connects there
	redirectURI = "http://127.0.0.1/cb"
	verifier    = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

// open starts the binary on a data folder, without a line in the log per request, and
// without rates: they would be what is measured.
func open(binary, data string, more ...string) (*service, error) {
	return openOn(nil, binary, data, more...)
}

// openOn is open with a store that the given flags lead to.
func openOn(store []string, binary, data string, more ...string) (*service, error) {
	args := []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--base-url", origin, "--log-requests=false",
		"--limits-per-ip", "1000000000"}
	p, err := spawn("Listening on", nil, binary, slices.Concat(args, store, more)...)
	if err != nil {
		return nil, err
	}
	h := &service{process: p, binary: binary, data: data, store: store}
	if err := h.enter(); err != nil {
		h.stop()
		return nil, err
	}
	return h, nil
}

// enter reads first-run.json and signs in.
func (h *service) enter() error {
	text, err := os.ReadFile(filepath.Join(h.data, "first-run.json"))
	if err != nil {
		return err
	}
	var firstRun struct {
		Admin struct{ Username, Password string }
		App   struct {
			ID     string `json:"client_id"`
			Secret string `json:"client_secret"`
		}
	}
	if err := json.Unmarshal(text, &firstRun); err != nil {
		return err
	}
	h.app.ID, h.app.Secret, h.admin = firstRun.App.ID, firstRun.App.Secret, firstRun.Admin
	if err := h.command("app", "set", h.app.ID, "--tier", "enterprise"); err != nil {
		return fmt.Errorf("the application's tier: %w", err)
	}
	stay := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := stay.PostForm("http://"+h.address+"/oauth/signin",
		url.Values{"username": {h.admin.Username}, "password": {h.admin.Password}})
	if err != nil {
		return err
	}
	resp.Body.Close()
	for _, c := range resp.Cookies() {
		h.cookie = "Cookie: " + c.Name + "=" + c.Value + "\r\n"
		return nil
	}
	return errors.New("the administrator cannot sign in: " + resp.Status)
}

// command runs a command of the binary for this service.
func (h *service) command(words ...string) error {
	out, err := exec.Command(h.binary, slices.Concat(words, []string{"--data", h.data}, h.store)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", words[0], err, out)
	}
	return nil
}

// form is the body of a token request by the demo's application.
func (h *service) form(rest string) string {
	return "client_id=" + h.app.ID + "&client_secret=" + h.app.Secret + "&" + rest
}

// code does the whole code flow with PKCE; the tokens are in the answer that c holds.
func (h *service) code(c *conn) error {
	if err := c.get(authorizePath("/oauth/authorize", h.app.ID), h.cookie); err != nil {
		return err
	}
	code, err := codeOf(c)
	if err != nil {
		return err
	}
	err = c.post("/oauth/token",
		h.form("grant_type=authorization_code&code="+code+"&redirect_uri="+url.QueryEscape(redirectURI)+"&code_verifier="+
			verifier))
	return errors.Join(err, c.want(http.StatusOK))
}

func authorizePath(at, client string) string {
	sum := sha256.Sum256([]byte(verifier))
	return at + "?response_type=code&scope=openid+profile&state=some-state&client_id=" + client + "&redirect_uri=" +
		url.QueryEscape(redirectURI) +
		"&code_challenge_method=S256&code_challenge=" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// codeOf cuts the code out of the redirect; it has no escapes in it.
func codeOf(c *conn) (string, error) {
	_, rest, _ := strings.Cut(string(c.location), "code=")
	code, _, _ := strings.Cut(rest, "&")
	if code == "" {
		return "", errors.Join(errors.New("no code"), c.want(http.StatusFound))
	}
	return code, nil
}

// rotate replaces a refresh token and returns the next one.
func (h *service) rotate(c *conn, handle string) (string, error) {
	if err := c.post("/oauth/token", h.form("grant_type=refresh_token&refresh_token="+handle)); err != nil {
		return "", err
	}
	return c.member("refresh_token")
}
