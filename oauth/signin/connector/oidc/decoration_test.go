package oidc_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector"
)

// wantUnread wants a user whom the id_token has named, without a nickname, and why for the operator.
func wantUnread(t testing.TB, what string, profile connector.Profile, err error, why string) {
	t.Helper()
	if err != nil || len(profile.Subjects) != 1 || profile.Nickname != "" || profile.Unread == "" ||
		!strings.Contains(profile.Unread, why) {
		t.Errorf("%s: %+v, %v; want a user without a nickname, because of %q", what, profile, err, why)
	}
}

// omar's name is at userinfo alone. The id_token has said who he is, so it costs his name and not his sign-in.
func TestUserinfoThatCannotBeReadCostsTheNickname(t *testing.T) {
	for what, answer := range map[string]http.HandlerFunc{
		"a JWT": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jwt")
			w.Write([]byte("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.AA"))
		},
		"a refusal": text(401, `{"error":"invalid_token"}`), "another format": text(200, "sub=1&name=Omar"),
		"nobody": text(200, `{"name":"Somebody"}`), "a number": text(200, `{"sub":7,"name":"Somebody"}`),
		"null": text(200, "null"),
	} {
		p := newProvider(t)
		p.instead("userinfo", answer)
		profile, err := p.signIn(p.connect(), "omar", "")
		wantUnread(t, what, profile, err, "")
	}
}

// A user who is let in by an address needs the address, and there must be no doubt who they are.
func TestUserinfoThatDecidesIsNotPassedOver(t *testing.T) {
	p := newProvider(t)
	p.c.Domains = []string{"example.com"}
	p.instead("userinfo", text(503, ""))
	profile, err := p.signIn(p.connect(), "omar", "")
	wantTrouble(t, "the address is not known", profile, err, "503")

	p = newProvider(t)
	p.instead("userinfo", text(200, `{"sub":"somebody-else","name":"Somebody"}`))
	profile, err = p.signIn(p.connect(), "omar", "")
	wantTrouble(t, "two people", profile, err, "two different people")
	if errors.Is(err, connector.ErrDenied) {
		t.Error(err)
	}
}

func TestNamesAreTakenFromWhatThereIs(t *testing.T) {
	sub := func(p *provider) string {
		profile, err := p.signIn(p.connect(), "omar", "")
		must(t, err)
		_, sub, _ := strings.Cut(profile.Subjects[0], "#")
		return sub
	}(newProvider(t))
	for body, want := range map[string]string{
		`"given_name":"Ada","family_name":"Lovelace"`:            "Ada Lovelace",
		`"family_name":"Lovelace"`:                               "Lovelace",
		`"given_name":"晓雨","family_name":"林"`:                    "林晓雨",
		`"given_name":7,"family_name":null,"nickname":["x"]`:     "",
		`"name":"Ada` + "\x14" + `L","picture":{},"gender":3`:    "Ada L",
		`"name":null,"preferred_username":"omar"`:                "omar",
		`"name":"` + strings.Repeat("a", 300) + `"`:              strings.Repeat("a", 200),
		`"name":"` + "\xd5\x5c" + `","zoneinfo":"Asia/Shanghai"`: "??",
	} {
		p := newProvider(t)
		p.instead("userinfo", text(200, `{"sub":"`+sub+`",`+body+`}`))
		profile, err := p.signIn(p.connect(), "omar", "")
		if err != nil || profile.Nickname != want || profile.Unread != "" {
			t.Errorf("%s: %+v, %v, want %q", body, profile, err, want)
		}
	}
}

func TestSubMayHoldABlank(t *testing.T) {
	p := newProvider(t)
	if profile, err := p.signIn(p.connect(), "lin", "blank-sub"); err != nil ||
		!strings.HasSuffix(profile.Subjects[0], "#auth0|Ada Lovelace") {
		t.Errorf("%+v, %v", profile, err)
	}
}

// A member of the token answer that nobody needs may be of any type.
func TestTokenAnswersAreReadForWhatCounts(t *testing.T) {
	p := newProvider(t)
	p.instead("token", func(w http.ResponseWriter, r *http.Request) {
		var out strings.Builder
		p.ServeHTTP(&rewriting{w, &out}, r)
		w.Write([]byte("\ufeff" + strings.Replace(out.String(), "{",
			`{"refresh_token":7,"scope":["openid"],"error":null,"x":"`+"\x01"+`",`, 1)))
	})
	if profile, err := p.signIn(p.connect(), "lin", ""); err != nil || profile.Nickname != "林晓雨" {
		t.Errorf("%+v, %v", profile, err)
	}
}

// rewriting keeps a body, so that it can be rewritten before it is sent.
type rewriting struct {
	http.ResponseWriter
	body *strings.Builder
}

func (w *rewriting) Write(b []byte) (int, error) { return w.body.Write(b) }
