package oidc

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/keystile/keystile/oauth/signin/connector"
)

func claimsOf(t testing.TB, text string) claims {
	t.Helper()
	var c claims
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAddressIsVerifiedOnlyIfTheProviderSaysSo(t *testing.T) {
	for text, want := range map[string]string{
		`{"email":"Lin@Example.com","email_verified":true}`:   "lin@example.com",
		`{"email":"lin@example.com","email_verified":"true"}`: "lin@example.com",
		`{"email":"lin@example.com","email_verified":false}`:  "",
		`{"email":"lin@example.com","email_verified":1}`:      "",
		`{"email":"lin@example.com","email_verified":"yes"}`:  "",
		`{"email":"lin@example.com","email_verified":null}`:   "",
		`{"email":"lin@example.com","Email_Verified":true}`:   "",
		`{"email":"lin@example.com"}`:                         "",
		`{"email":["lin@example.com"],"email_verified":true}`: "",
	} {
		if got := claimsOf(t, text).verified(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A flag for one address must not vouch for another.
func TestFlagAndTheAddressAreOfOneAnswer(t *testing.T) {
	for _, row := range [][3]string{
		{`{"email":"a@x.example","email_verified":true}`, `{"sub":"1"}`, "a@x.example"},
		{`{"email":"a@x.example","email_verified":true}`, `{"email":"b@x.example"}`, ""},
		{`{"email":"a@x.example","email_verified":true}`, `{"email_verified":false}`, ""},
		{`{"email":"a@x.example"}`, `{"email_verified":true}`, ""},
		{`{"email":"a@x.example","email_verified":false}`, `{"email":"b@x.example","email_verified":true}`, "b@x.example"},
	} {
		if got := claimsOf(t, row[0]).over(claimsOf(t, row[1])).verified(); got != row[2] {
			t.Errorf("userinfo %s, id_token %s: %q, want %q", row[0], row[1], got, row[2])
		}
	}
}

func TestGoogleSaysWhichWorkspaceAnAccountIsOf(t *testing.T) {
	v := &visit{upstream: &upstream{Config: Config{Issuer: Google, Domains: []string{"corp.example"}}}}
	for text, in := range map[string]bool{
		`{"hd":"corp.example","email":"a@corp.example","email_verified":true}`:  true,
		`{"email":"a@corp.example","email_verified":true}`:                      false, // an account of one's own
		`{"hd":"other.example","email":"a@corp.example","email_verified":true}`: false,
		`{}`: false,
	} {
		if got := v.admits(claimsOf(t, text)); got != in {
			t.Errorf("%s is let in: %t", text, got)
		}
	}
}

func TestNicknamesAreNoAddresses(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"Lin","nickname":"l","preferred_username":"lin"}`: "Lin",
		`{"name":" ","nickname":"l"}`:                              "l",
		`{"preferred_username":"lin"}`:                             "lin",
		`{"preferred_username":"lin@corp.example"}`:                "",
		`{"email":"lin@corp.example","email_verified":true}`:       "",
		`{"name":{"a":1}}`:                                         "",
	} {
		if got := nickname(claimsOf(t, text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := picture(claimsOf(t, `{"picture":"https://graph.microsoft.com/v1.0/me/photo/$value"}`)); got != "" {
		t.Errorf("a picture that browsers cannot load: %s", got)
	}
}

func TestSubjectsOfTwoIssuersAreDistinct(t *testing.T) {
	if subject("https://a.example", "b#c") == subject("https://a.example#b", "c") &&
		checkIssuer("https://a.example#b") == nil {
		t.Error("two issuers name one user")
	}
	if subject("https://a.example", "1") == subject("https://b.example", "1") {
		t.Error("the issuer is not in the subject")
	}
}

func FuzzClaims(f *testing.F) {
	f.Add(`{"sub":"1","name":"Lin","picture":"https://a.example/p","email":"a@b.example","email_verified":true}`, `{"sub":"1","gender":"male"}`)
	f.Add(`{"sub":"1","name":"\u202e\u0000"}`, `{"email":"@","email_verified":"true","picture":"javascript:alert(1)"}`)
	f.Fuzz(func(t *testing.T, userinfo, signed string) {
		var a, b claims
		if json.Unmarshal([]byte(userinfo), &a) != nil || json.Unmarshal([]byte(signed), &b) != nil {
			return
		}
		c := a.over(b)
		if b["sub"] != nil && c.text("sub") != b.text("sub") {
			t.Error("userinfo says who it is")
		}
		v := &visit{upstream: &upstream{Config: Config{Issuer: "https://a.example", Domains: []string{"b.example"}}}}
		if v.admits(c) && (!strings.HasSuffix(c.verified(), "@b.example") || string(c["email_verified"]) == "false") {
			t.Errorf("%q is let in", c)
		}
		p := connector.Profile{Nickname: nickname(c), Avatar: picture(c), Gender: c.text("gender")}.Tidy()
		if len(p.Nickname) > 200 || !utf8.ValidString(p.Nickname) || strings.ContainsAny(p.Nickname, "\x00\n\u202e") {
			t.Errorf("nickname %q", p.Nickname)
		}
		if p.Avatar != "" && !strings.HasPrefix(strings.ToLower(p.Avatar), "http") || p.Gender != "" && p.Gender != "male" &&
			p.Gender != "female" {
			t.Errorf("%+v", p)
		}
	})
}
