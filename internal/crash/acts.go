package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
)

// Kinds of writes, in the order of the report.
const (
	issueCode    = "code issued"
	exchangeCode = "code exchanged"
	rotate       = "refresh token rotated"
	revokeAccess = "access token revoked"
	revokeFamily = "family revoked"
	createApp    = "application created"
	createUser   = "user created"
	changeValue  = "setting changed"
)

var kinds = []string{issueCode, exchangeCode, rotate, revokeAccess, revokeFamily, createApp, createUser, changeValue}

// life is one life of the server, as its clients see it.
type life struct {
	*wire
	paper
	cookie string // of the administrator, who has signed in
}

const redirectURI = "http://127.0.0.1/cb"

// authorize returns a code with its verifier as the secret, and the answer if there is none.
func (l *life) authorize() (*thing, answer, error) {
	verifier := rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {l.App.ID}, "redirect_uri": {redirectURI}, "scope": {"openid profile"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	a, err := l.get("/oauth/authorize?"+query.Encode(), "Cookie", l.cookie)
	if err != nil {
		return nil, a, err
	}
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusFound || to.Query().Get("code") == "" {
		return nil, a, nil
	}
	return &thing{kind: aCode, name: to.Query().Get("code"), secret: verifier, family: &family{}}, a, nil
}

func (l *life) exchange(code *thing) (answer, error) {
	return l.post("/oauth/token", l.form("grant_type", "authorization_code", "code", code.name,
		"redirect_uri", redirectURI, "code_verifier", code.secret))
}

func (l *life) refresh(token *thing) (answer, error) {
	return l.post("/oauth/token", l.form("grant_type", "refresh_token", "refresh_token", token.name))
}

func (l *life) revoke(token *thing) (answer, error) {
	return l.post("/oauth/revoke", l.form("token", token.name))
}

// follow notes the tokens of an answer, which continue the family. It reports whether there
// were any.
func (l *life) follow(f *family, a answer) bool {
	r := a.reply()
	if a.status != http.StatusOK || r.Refresh == "" || r.Access == "" {
		return false
	}
	f.newest = l.journal.add(&thing{kind: aRefresh, name: r.Refresh, family: f}, "handed out")
	f.access = append(f.access, l.journal.add(&thing{kind: anAccess, name: r.Access, family: f}, "handed out"))
	return true
}
