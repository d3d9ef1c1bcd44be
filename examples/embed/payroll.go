package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/storage"
)

// payroll is an application, in most cases another program: it signs users of the service in, and asks the service's
// API for them. Any OAuth library does what stands here.
type payroll struct {
	issuer, origin string // of the service, and its own
	app            storage.App
}

func (p payroll) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		p.begin(w, r)
	case "/callback":
		p.end(w, r)
	default:
		http.NotFound(w, r)
	}
}

const (
	stateCookie    = "payroll_state"
	verifierCookie = "payroll_verifier"
)

// begin sends the browser to the service. The state that it brings back has to be the one that is drawn here.
func (p payroll) begin(w http.ResponseWriter, r *http.Request) {
	state, verifier := rand.Text(), rand.Text()+rand.Text()
	for name, value := range map[string]string{stateCookie: state, verifierCookie: verifier} {
		http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/callback", MaxAge: 600, HttpOnly: true,
			SameSite: http.SameSiteLaxMode})
	}
	http.Redirect(w, r, p.issuer+"/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {p.app.ID}, "redirect_uri": {p.origin + "/callback"},
		"scope": {"openid profile"}, "code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"},
		"state": {state},
	}.Encode(), http.StatusFound)
}

func (p payroll) end(w http.ResponseWriter, r *http.Request) {
	state, err := r.Cookie(stateCookie)
	verifier, missing := r.Cookie(verifierCookie)
	if err != nil || missing != nil || state.Value != r.FormValue("state") {
		http.Error(w, "this sign-in did not begin here: begin at "+p.origin, http.StatusBadRequest)
		return
	}
	token, err := p.redeem(r.FormValue("code"), verifier.Value)
	var answer string
	if err == nil {
		answer, err = p.salary(token)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprint(w, "Payroll has asked the service: ", answer)
}

// redeem exchanges a code for an access token.
func (p payroll) redeem(code, verifier string) (string, error) {
	resp, err := http.PostForm(p.issuer+"/oauth/token", url.Values{"grant_type": {"authorization_code"},
		"client_id": {p.app.ID}, "redirect_uri": {p.origin + "/callback"}, "code_verifier": {verifier}, "code": {code}})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var token struct {
		AccessToken string `json:"access_token"`
		Problem     string `json:"error_description"`
	}
	err = json.NewDecoder(resp.Body).Decode(&token)
	if err == nil && token.AccessToken == "" {
		err = errors.New(token.Problem)
	}
	return token.AccessToken, err
}

// salary asks the service's own API.
func (p payroll) salary(token string) (string, error) {
	r, err := http.NewRequest(http.MethodGet, p.issuer+"/salary", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return string(body), err
}

// challenge returns S256 of RFC 7636.
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
