package token

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

func TestIDTokenIsKnownByTheKeyOfItsOwnAlgorithmOnly(t *testing.T) {
	v, _ := verifier(t, ES256, RS256, EdDSA)
	secret, old, ended := storage.DrawSecret(), storage.DrawSecret(), storage.DrawSecret()
	app := storage.App{ID: "app1", Secrets: []storage.AppSecret{
		{Secret: secret}, {Secret: old, ExpiresAt: time.Now().Add(time.Hour)},
		{Secret: ended, ExpiresAt: time.Now().Add(-time.Hour)},
	}}
	public := storage.App{ID: "app1", Public: true, Secrets: app.Secrets}
	claims := []byte(`{"iss":"` + issuer + `","sub":"u1","aud":"app1","exp":1,"iat":1}`)
	sign := func(alg string) string {
		text, err := v.keys.Sign(alg, TypeID, claims)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	swap := func(text, head string) string {
		_, rest, _ := strings.Cut(text, ".")
		return base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + rest
	}
	kid := v.keys.set.Load().active[ES256].ID
	for name, c := range map[string]struct {
		text string
		app  storage.App
		good bool
	}{
		"ES256":                          {sign(ES256), app, true},
		"RS256":                          {sign(RS256), app, true},
		"EdDSA":                          {sign(EdDSA), app, true},
		"ES256 of a public one":          {sign(ES256), public, true},
		"HS256":                          {SignHS256(secret, TypeID, claims), app, true},
		"HS256, the other live secret":   {SignHS256(old, TypeID, claims), app, true},
		"HS256, a secret that has ended": {SignHS256(ended, TypeID, claims), app, false},
		"HS256, another secret":          {SignHS256(storage.DrawSecret(), TypeID, claims), app, false},
		"HS256 of a public one":          {SignHS256(secret, TypeID, claims), public, false},
		"HS256 with no secret at all":    {SignHS256(secret, TypeID, claims), storage.App{ID: "app1"}, false},
		"HS256 with the public key": {SignHS256(storage.NewSecret(string(v.keys.JWKS().Body())), TypeID, claims), app,
			false},
		"HS256 that names a key":      {swap(SignHS256(secret, TypeID, claims), `{"alg":"HS256","kid":"`+kid+`","typ":"JWT"}`), app, false},
		"ES256 said to be RS256":      {swap(sign(ES256), `{"alg":"RS256","kid":"`+kid+`","typ":"JWT"}`), app, false},
		"ES256 of an unknown key":     {swap(sign(ES256), `{"alg":"ES256","kid":"x","typ":"JWT"}`), app, false},
		"ES256 with a key of its own": {swap(sign(ES256), `{"alg":"ES256","jwk":{},"kid":"`+kid+`","typ":"JWT"}`), app, false},
		"none":                        {swap(sign(ES256), `{"alg":"none","typ":"JWT"}`), app, false},
		"an access token":             {mint(t, v.keys, nil), app, false},
		"of another application": {SignHS256(secret, TypeID, claims), storage.App{ID: "app2", Secrets: app.Secrets},
			false},
		"changed":                      {strings.Replace(sign(ES256), ".", ".e30", 1), app, false},
		"padded":                       {sign(ES256) + "=", app, false},
		"two segments":                 {"e30.e30", app, false},
		"longer than anything we sign": {sign(ES256) + strings.Repeat("A", maxToken), app, false},
		"nothing":                      {"", app, false},
		"claims that are there twice":  {SignHS256(secret, TypeID, []byte(`{"iss":"`+issuer+`","sub":"u1","sub":"u2","aud":"app1"}`)), app, false},
		"an audience that is a list":   {SignHS256(secret, TypeID, []byte(`{"iss":"`+issuer+`","sub":"u1","aud":["app1"]}`)), app, false},
		"no subject":                   {SignHS256(secret, TypeID, []byte(`{"iss":"`+issuer+`","aud":"app1"}`)), app, false},
		"another issuer":               {SignHS256(secret, TypeID, []byte(`{"iss":"https://x.example","sub":"u1","aud":"app1"}`)), app, false},
		"claims that are no object":    {SignHS256(secret, TypeID, []byte(`[]`)), app, false},
	} {
		sub, err := v.keys.VerifyID(c.text, issuer, c.app)
		if c.good && (sub != "u1" || err != nil) || !c.good && (sub != "" || !errors.Is(err, ErrInvalid)) {
			t.Errorf("%s: VerifyID() = %q, %v, want good %t", name, sub, err, c.good)
		}
	}
}
