package forgery

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"strings"
	"time"
)

// headers: well signed, but under a header that must not be taken.
func (f *forger) headers() (out []Forgery) {
	head := f.header()
	for name, header := range map[string]object{
		"typ JWT":                head.with("typ", `"JWT"`),
		"no typ":                 head.without("typ"),
		"typ empty":              head.with("typ", `""`),
		"typ null":               head.with("typ", `null`),
		"typ logout+jwt":         head.with("typ", `"logout+jwt"`),
		"typ at+jwt and more":    head.with("typ", `"at+jwt+jwe"`),
		"typ text/at+jwt":        head.with("typ", `"text/at+jwt"`),
		"typ in an array":        head.with("typ", `["at+jwt"]`),
		"typ twice":              head.before("typ", `"JWT"`),
		"Typ beside typ":         head.after("Typ", `"JWT"`),
		"no alg":                 head.without("alg"),
		"alg in an array":        head.with("alg", "["+quote(f.main.Alg)+"]"),
		"alg twice":              head.before("alg", `"none"`),
		"ALG beside alg":         head.after("ALG", `"none"`),
		"no kid":                 head.without("kid"),
		"kid empty":              head.with("kid", `""`),
		"kid null":               head.with("kid", `null`),
		"kid a number":           head.with("kid", `1`),
		"kid in an array":        head.with("kid", "["+quote(f.main.ID)+"]"),
		"kid unknown":            head.with("kid", `"unknown"`),
		"kid a path":             head.with("kid", `"../../../../dev/null"`),
		"kid a query":            head.with("kid", `"x' UNION SELECT 'k"`),
		"kid with a line break":  head.with("kid", quote(f.main.ID+"\n")),
		"kid in lower case":      head.with("kid", quote(strings.ToLower(f.main.ID))),
		"kid cut short":          head.with("kid", quote(f.main.ID[1:])),
		"kid twice":              head.before("kid", `"unknown"`),
		"Kid instead of kid":     head.without("kid").after("Kid", quote(f.main.ID)),
		"crit empty":             head.after("crit", `[]`),
		"crit exp":               head.after("crit", `["exp"]`),
		"crit unknown extension": head.after("crit", `["x"]`).after("x", `1`),
		"b64 true":               head.after("b64", `true`),
		"b64 false":              head.after("b64", `false`).after("crit", `["b64"]`),
		"jku":                    head.after("jku", `"https://evil.example/jwks"`),
		"x5u":                    head.after("x5u", `"https://evil.example/cert.pem"`),
		"jwk of the right key":   head.after("jwk", jwk(f.main.private.Public())),
		"jwk of no key":          head.after("jwk", `{"kty":"oct","k":""}`),
		"x5c":                    head.after("x5c", `["`+f.certificate(f.main)+`"]`),
		"zip":                    head.after("zip", `"DEF"`),
		"cty JWT":                head.after("cty", `"JWT"`),
		"enc":                    head.after("enc", `"A256GCM"`),
		"an unknown parameter":   head.after("x", `1`),
		"a NUL in a name":        head.after(`alg\u0000`, `"none"`),
	} {
		out = append(out, Forgery{"header: " + name, f.sign(header, f.body())})
	}
	return sorted(out)
}

// brokenHeaders: well signed, but under what is not a header.
func (f *forger) brokenHeaders() (out []Forgery) {
	head := f.header()
	for name, header := range map[string]string{
		"empty": "", "null": "null", "a string": `"at+jwt"`, "an array": "[" + head.String() + "]",
		"two objects": head.String() + head.String(), "cut short": strings.TrimSuffix(head.String(), "}"),
		"a byte order mark in front": "\ufeff" + head.String(), "not UTF-8": strings.Replace(head.String(), "at+jwt",
			"at+jwt\xff", 1),
		"very deep": strings.Repeat("[", 4000), "a NUL behind": head.String() + "\x00",
	} {
		out = append(out, Forgery{"header: " + name, f.seal(f.main, encode(header), encode(f.body().String()))})
	}
	return sorted(out)
}

// unknownKeys: signed with a foreign key, in a token that calls it ours or says where it is.
func (f *forger) unknownKeys() []Forgery {
	s := f.unknownSigner()
	seal := func(header object) string {
		return f.seal(s, encode(header.String()), encode(f.body().String()))
	}
	head := f.headerOf("ES256", f.main.ID)
	key := jwk(s.private.Public())
	return []Forgery{
		{"a stranger's key under our kid", seal(head)},
		{"a stranger's key under its own kid", seal(head.with("kid", `"stranger"`))},
		{"a stranger's key without kid", seal(head.without("kid"))},
		{"a stranger's key in jwk", seal(head.after("jwk", key))},
		{"a stranger's key in jwk, without kid", seal(head.without("kid").after("jwk", key))},
		{"a stranger's key in x5c", seal(head.after("x5c", `["`+f.certificate(s)+`"]`))},
		{"a stranger's key behind jku", seal(head.after("jku", quote("data:application/json,"+encode(`{"keys":[`+key+`]}`))))},
		{"a stranger's key behind x5u", seal(head.after("x5u", `"https://evil.example/cert.pem"`))},
	}
}

// certificate returns a self-signed one in base64 (RFC 7515 4.1.6).
func (f *forger) certificate(p pair) string {
	f.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: f.now, NotAfter: f.now.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, p.private.Public(), p.private)
	if err != nil {
		f.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

func jwk(public crypto.PublicKey) string {
	b64 := base64.RawURLEncoding.EncodeToString
	switch k := public.(type) {
	case *ecdsa.PublicKey:
		point, _ := k.Bytes()
		return `{"kty":"EC","crv":"P-256","x":"` + b64(point[1:33]) + `","y":"` + b64(point[33:]) + `"}`
	case ed25519.PublicKey:
		return `{"kty":"OKP","crv":"Ed25519","x":"` + b64(k) + `"}`
	case *rsa.PublicKey:
		return `{"kty":"RSA","n":"` + b64(k.N.Bytes()) + `","e":"` + b64(big.NewInt(int64(k.E)).Bytes()) + `"}`
	}
	return `{}`
}
