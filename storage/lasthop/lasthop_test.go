package lasthop

import (
	"net/url"
	"testing"
)

func TestOriginHasNoDefaultPortAndSmallLetters(t *testing.T) {
	for text, want := range map[string]string{
		"https://api.example.com": "https://api.example.com", "HTTPS://API.example.COM/v1?x=1": "https://api.example.com",
		"https://api.example.com:443/": "https://api.example.com", "http://api.example.com:80": "http://api.example.com",
		"http://api.example.com:443":    "http://api.example.com:443",
		"https://api.example.com:80":    "https://api.example.com:80",
		"http://api.example.com:8080/a": "http://api.example.com:8080", "http://[::1]:80/": "http://[::1]",
		"http://[::1]":      "http://[::1]",
		"http://[::1]:9000": "http://[::1]:9000", "https://api.example.com:": "https://api.example.com",
		"http://10.0.0.1:9000/v1": "http://10.0.0.1:9000",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Origin(u); got != want {
			t.Errorf("Origin(%s) = %s, want %s", text, got, want)
		}
	}
}

func TestIdentityHasWordsThatGoTogether(t *testing.T) {
	for i, want := range map[Identity]bool{
		{}: true, {Kind: None}: true, {Kind: Headers}: true, {Kind: Bearer}: true, {Kind: Signed}: true,
		{Kind: Signed, Subject: Sub, JTI: On}: true, {Kind: Signed, Subject: OpenID, JTI: Off}: true,
		{Kind: "jwt"}: false, {Kind: "Signed"}: false, {Kind: Signed, Subject: "email"}: false,
		{Kind: Signed, JTI: "no"}: false, {Subject: Sub}: false, {Kind: Headers, JTI: Off}: false,
		{Kind: None, Subject: OpenID}: false, {Kind: Bearer, JTI: On}: false,
	} {
		if err := i.Check(); (err == nil) != want {
			t.Errorf("Check(%+v) = %v", i, err)
		}
	}
}

func TestStoredIdentityIsShownInFull(t *testing.T) {
	for _, c := range []struct{ typed, stored, shown Identity }{
		{Identity{}, Identity{}, Identity{Kind: None}},
		{Identity{Kind: None, Subject: OpenID}, Identity{}, Identity{Kind: None}},
		{Identity{Kind: Headers}, Identity{Kind: Headers}, Identity{Kind: Headers}},
		{Identity{Kind: Signed, Subject: Sub, JTI: On}, Identity{Kind: Signed}, Identity{Signed, Sub, On}},
		{Identity{Signed, OpenID, Off}, Identity{Signed, OpenID, Off}, Identity{Signed, OpenID, Off}},
	} {
		if got := c.typed.Stored(); got != c.stored || got.Shown() != c.shown {
			t.Errorf("%+v is stored as %+v and shown as %+v, want %+v and %+v", c.typed, got, got.Shown(), c.stored, c.shown)
		}
	}
}

func TestAnotherKindBeginsAnew(t *testing.T) {
	text := func(s string) *string { return &s }
	was := Identity{Signed, OpenID, Off}
	for _, c := range []struct {
		kind, subject, jti *string
		want               Identity
	}{
		{nil, nil, nil, was}, {text(Signed), nil, nil, was}, {nil, text(Sub), nil, Identity{Signed, Sub, Off}},
		{nil, nil, text(""), Identity{Signed, OpenID, ""}}, {text(None), nil, nil, Identity{Kind: None}},
		{text(""), nil, nil, Identity{}}, {text(Headers), text(Sub), nil, Identity{Kind: Headers, Subject: Sub}},
	} {
		if got := was.With(c.kind, c.subject, c.jti); got != c.want {
			t.Errorf("With() = %+v, want %+v", got, c.want)
		}
	}
}
