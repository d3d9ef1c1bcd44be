package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

// callback serves the address that the provider sends the browser back to. It believes nothing it has not
// checked: the state is ours, iss names the provider, the id_token is signed with our
// secret and carries our nonce.
func (d *Demo) callback(w http.ResponseWriter, r *http.Request) error {
	t, query := tripOf(r), r.URL.Query()
	switch {
	case !t.matches(query.Get("state")):
		return strangeState
	case query.Get("iss") != d.base:
		return strangeIssuer
	}
	http.SetCookie(w, d.cookie(cookieName, "", -1))
	if query.Get("error") != "" {
		return refused.Saying(fmt.Sprintf("The provider said no: %s. %s", query.Get("error"), query.Get("error_description")))
	}
	app, err := d.app(r.Context())
	if err != nil {
		return err
	}
	p := d.ask(r)
	tokens, err := p.exchange(app, query.Get("code"), t.verifier, RedirectURI(d.base))
	if err != nil {
		return err
	}
	want := expected{issuer: d.base, app: app, nonce: t.nonce, at: time.Now()}
	if err := want.verify(tokens.IDToken); err != nil {
		return strangeIDToken.Because(err)
	}
	claims, err := p.userInfo(tokens.AccessToken)
	if err != nil {
		return err
	}
	return d.show(w, d.welcome(app, tokens, claims))
}

// welcome is the page of a sign-in that went well.
func (d *Demo) welcome(app storage.App, tokens tokens, claims []claim) view {
	return view{
		Base: d.base, App: app.Name, ClientID: app.ID, Name: greeting(claims), Claims: claims,
		AccessToken: tokens.AccessToken, Scope: tokens.Scope,
		Lifetime: lifetime(tokens.ExpiresIn), Home: d.base + Path,
	}
}

// lifetime says seconds in the largest unit that fits.
func lifetime(seconds int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"days", 86400}, {"hours", 3600}, {"minutes", 60}} {
		if seconds >= 2*unit.size && seconds%unit.size == 0 {
			return fmt.Sprintf("%d %s", seconds/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d seconds", seconds)
}

// tokens holds the members of a token answer that the demo reads (protocol 2.1).
type tokens struct {
	AccessToken string `json:"access_token"`
	IDToken     string `json:"id_token"`
	ExpiresIn   int64  `json:"expires_in"`
	Scope       string `json:"scope"`
}

// exchange redeems the code (protocol 4.2).
func (p provider) exchange(app storage.App, code, verifier, redirectURI string) (t tokens, err error) {
	body, err := p.post("/oauth/token", url.Values{
		"grant_type":    {"authorization_code"},
		"code":          {code},
		"redirect_uri":  {redirectURI},
		"code_verifier": {verifier},
		"client_id":     {app.ID},
		"client_secret": {app.AppKey().Reveal()},
	})
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(body, &t)
}

// userInfo asks who the access token is about (protocol 4.3).
func (p provider) userInfo(accessToken string) ([]claim, error) {
	body, err := p.get("/oauth/userinfo", accessToken)
	if err != nil {
		return nil, err
	}
	return readClaims(body)
}

// claim is one line of the table.
type claim struct {
	Name, Value string
	Text        bool // of JSON's texts, as opposed to numbers and booleans
}

// readClaims reads a JSON object in the order it is written in.
func readClaims(body []byte) ([]claim, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil { // the brace
		return nil, err
	}
	var claims []claim
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		_, text := value.(string)
		claims = append(claims, claim{fmt.Sprint(name), fmt.Sprint(value), text})
	}
	return claims, nil
}

// greeting is the name a person is called by here.
func greeting(claims []claim) string {
	for _, wanted := range strings.Fields("nickname name preferred_username sub") {
		for _, c := range claims {
			if c.Name == wanted && c.Value != "" {
				return c.Value
			}
		}
	}
	return "somebody"
}
