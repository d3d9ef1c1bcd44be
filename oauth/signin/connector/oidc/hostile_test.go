package oidc_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
	"github.com/keystile/keystile/storage"
)

func TestEndlessSlowAndRedirectingAnswersAreTroubles(t *testing.T) {
	p := newProvider(t)
	_, err := p.signIn(p.connect(), "lin", "")
	must(t, err)
	for _, last := range []string{"openid-configuration", "jwks", "token", "userinfo"} {
		for what, row := range map[string]struct {
			answer http.HandlerFunc
			why    string
		}{
			"a giant": {text(200, `{"pad":"`+strings.Repeat("x", 1<<20)+`"}`), "more than 1 MiB"},
			"a redirect": {func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			}, ""},
			"an error":     {text(503, "<html>"), "503"},
			"no object":    {text(200, `[1]`), ""},
			"not JSON":     {text(200, `<html>`), ""},
			"nothing":      {text(200, ``), ""},
			"another type": {text(200, `{"access_token":1,"sub":1,"keys":1,"issuer":1}`), ""},
		} {
			p := newProvider(t)
			p.instead(last, row.answer)
			c := p.connect()
			if last == "openid-configuration" {
				wantTrouble(t, last+": "+what, connector.Profile{}, leaving(t.Context(), c), row.why)
				continue
			}
			profile, err := p.signIn(c, "omar", "")
			if last == "userinfo" {
				wantUnread(t, last+": "+what, profile, err, row.why)
			} else {
				wantTrouble(t, last+": "+what, profile, err, row.why)
			}
			if n := p.count("elsewhere"); n > 0 {
				t.Errorf("%s: a redirect was followed", last)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		for _, last := range []string{"openid-configuration", "jwks", "token", "userinfo"} {
			p := newProvider(t)
			p.c.Client = &http.Client{Transport: slow{p, last}, Timeout: 10 * time.Second}
			c, began := p.connect(), time.Now()
			err := leaving(t.Context(), c)
			profile := connector.Profile{}
			if last != "openid-configuration" {
				must(t, err)
				profile, err = p.signIn(c, "omar", "")
			}
			if last == "userinfo" {
				wantUnread(t, last+": never", profile, err, "context deadline exceeded")
			} else {
				wantTrouble(t, last+": never", connector.Profile{}, err, "context deadline exceeded")
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s: waited for %s", last, took)
			}
			time.Sleep(time.Minute) // whatever it left behind is over
		}
	})
}

// slow never answers at one address.
type slow struct {
	*provider
	last string
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/"+s.last) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return s.provider.RoundTrip(r)
}

// Our own client dials public addresses, and those that the operator names.
func TestPrivateAddressesAreAskedOnlyIfAllowed(t *testing.T) {
	var arrived int
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived++
		http.NotFound(w, r)
	}))
	defer s.Close()
	c := oidc.Config{Name: "x", Issuer: s.URL, ClientID: "a", ClientSecret: storage.NewSecret("s3cret")}
	for _, allow := range []string{"", strings.TrimPrefix(s.URL, "http://")} {
		if allow != "" {
			c.AllowPrivate = []string{allow}
		}
		made, err := oidc.New(c)
		must(t, err)
		err = leaving(t.Context(), made)
		want := map[bool]string{true: "allow_private", false: "404"}[allow == ""]
		wantTrouble(t, "allowing "+allow, connector.Profile{}, err, want)
		if (arrived > 0) != (allow != "") {
			t.Errorf("allowing %q: %d requests arrived", allow, arrived)
		}
	}
}

// A document that is public must not lead the secret into the network.
func TestTokenEndpointOnAPrivateAddressGetsNothing(t *testing.T) {
	p := newProvider(t)
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a request arrived inside")
	}))
	defer inside.Close()
	front := httptest.NewServer(nil)
	defer front.Close()
	front.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text(200, strings.ReplaceAll(strings.ReplaceAll(string(document(t, p)), issuer+"/token", inside.URL), issuer,
			front.URL))(w, nil)
	})
	made, err := oidc.New(oidc.Config{
		Name: "x", Issuer: front.URL, ClientID: "a", ClientSecret: storage.NewSecret("s3cret"),
		AllowPrivate: []string{strings.TrimPrefix(front.URL, "http://")},
	})
	must(t, err)
	must(t, leaving(t.Context(), made))
	profile, err := made.Finish(t.Context(), back, url.Values{"code": {"c"}, "state": {state}, "iss": {front.URL}})
	wantTrouble(t, "a token endpoint inside", profile, err, "address not allowed")
}
