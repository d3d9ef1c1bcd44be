package main

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/internal/test/serving"
)

// firstRun holds the contents of first-run.json.
type firstRun struct {
	serving.FirstRun
	App application
}

// application is one with its secret.
type application serving.App

func readFirstRun(data string) (firstRun, error) {
	p, err := serving.ReadFirstRun(data)
	return firstRun{p, application(p.App)}, err
}

// form is a request of the application: name, value, name, value.
func (a application) form(pairs ...string) url.Values {
	v := url.Values{"client_id": {a.ID}, "client_secret": {a.Secret}}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

const sessionCookie = "open_sso_token"

// signIn sends the form and returns the session's cookie, "" if it was refused. A refused
// one counts for the server's lock, so nobody here signs in who may be unknown.
func signIn(w *wire, username, password string) (cookie string, a answer, err error) {
	a, err = w.post("/oauth/signin", url.Values{"username": {username}, "password": {password}})
	if err != nil || a.status != http.StatusSeeOther {
		return "", a, err
	}
	if cookie := a.cookie(sessionCookie); cookie != "" {
		return cookie, a, nil
	}
	return "", a, fmt.Errorf("the sign-in is answered without a cookie: %v", a)
}
