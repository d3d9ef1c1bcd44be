package forgery

import (
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/handle"
)

// claims: well signed, but what they say is not enough, not for here, or not now.
func (f *forger) claims() (out []Forgery) {
	body := f.body()
	for _, m := range body {
		out = append(out,
			Forgery{"claims: no " + m.name, f.sign(f.header(), body.without(m.name))},
			Forgery{"claims: " + m.name + " null", f.sign(f.header(), body.with(m.name, `null`))},
			Forgery{"claims: " + m.name + " an object", f.sign(f.header(), body.with(m.name, `{}`))})
		switch m.name {
		case "iat", "exp":
			out = append(out, Forgery{"claims: " + m.name + " a string", f.sign(f.header(), body.with(m.name, `"`+m.value+`"`))})
		case "scope":
			out = append(out,
				Forgery{"claims: scope an array", f.sign(f.header(), body.with("scope", `["openid"]`))},
				Forgery{"claims: scope a number", f.sign(f.header(), body.with("scope", `7`))})
		default:
			out = append(out,
				Forgery{"claims: " + m.name + " empty", f.sign(f.header(), body.with(m.name, `""`))},
				Forgery{"claims: " + m.name + " a number", f.sign(f.header(), body.with(m.name, `7`))})
		}
	}
	idToken := body.without("client_id").without("gid").without("jti").without("scope").with("aud", quote(f.ClientID))
	out = append(out, Forgery{"an id_token", f.sign(f.header().with("typ", `"JWT"`), idToken)})
	for _, c := range f.wrong() {
		out = append(out, Forgery{"claims: " + c.name, f.sign(f.header(), body.with(c.claim, c.value))})
	}
	return out
}

func (f *forger) wrong() []struct{ name, claim, value string } {
	return []struct{ name, claim, value string }{
		{"another issuer", "iss", `"https://evil.example"`},
		{"issuer with a slash behind", "iss", quote(f.Issuer + "/")},
		{"issuer in upper case", "iss", quote(strings.ToUpper(f.Issuer))},
		{"issuer in an array", "iss", "[" + quote(f.Issuer) + "]"},
		{"another audience", "aud", `"https://elsewhere.example"`},
		{"audience is the application, as in an id_token", "aud", quote(f.ClientID)},
		{"audience with a slash behind", "aud", quote(f.Issuer + "/")},
		{"audience longer than ours", "aud", quote(f.Issuer + ".evil.example")},
		{"audience an empty array", "aud", `[]`},
		{"audience an array without ours", "aud", `["https://elsewhere.example","` + f.ClientID + `"]`},
		{"audience an array with a number", "aud", "[" + quote(f.Issuer) + ",7]"},
		{"audience an array with null", "aud", "[" + quote(f.Issuer) + ",null]"},
		{"audience an array in an array", "aud", "[[" + quote(f.Issuer) + "]]"},
		{"expired now", "exp", f.in(0)},
		{"expired a second ago", "exp", f.in(-time.Second)},
		{"expired in 1970", "exp", `0`},
		{"exp negative", "exp", `-1`},
		{"exp a fraction", "exp", f.in(time.Hour) + ".5"},
		{"exp with an exponent", "exp", `9e10`},
		{"exp beyond int64", "exp", `18446744073709551615`},
		{"exp beyond a float", "exp", `1e999`},
		{"exp that wraps around", "exp", `9223372036854775807`},
		{"issued tomorrow", "iat", f.in(24 * time.Hour)},
		{"issued an hour ahead", "iat", f.in(time.Hour)},
		{"iat negative", "iat", `-1`},
		{"iat that wraps around", "iat", `9223372036854775807`},
		{"not valid before tomorrow", "nbf", f.in(24 * time.Hour)},
		{"nbf that wraps around", "nbf", `9223372036854775807`},
		{"nbf a string", "nbf", `"0"`},
		{"nbf null", "nbf", `null`},
		{"gid without a time", "gid", `"g1"`},
		{"gid cut short", "gid", quote(handle.NewGrant(f.now)[:31])},
		{"longer than any token", "x", quote(strings.Repeat("x", 8<<10))},
	}
}

// doubled: well signed, but two readers may read two different things.
func (f *forger) doubled() (out []Forgery) {
	body := f.body()
	for _, name := range []string{"sub", "aud", "exp", "client_id", "iss", "gid", "scope"} {
		i := slices.IndexFunc(body, func(m member) bool { return m.name == name })
		value, other, upper := body[i].value, `"other"`, strings.ToUpper(name)
		if name == "exp" {
			other = f.in(-time.Hour)
		}
		out = append(out,
			Forgery{"claims: two " + name + ", the wrong one first", f.sign(f.header(), body.before(name, other))},
			Forgery{"claims: two " + name + ", the wrong one last", f.sign(f.header(), body.after(name, other))},
			Forgery{"claims: " + upper + " beside " + name, f.sign(f.header(), body.after(upper, other))},
			Forgery{"claims: " + upper + " before " + name, f.sign(f.header(), body.before(upper, other))},
			Forgery{"claims: " + upper + " instead of " + name, f.sign(f.header(), body.without(name).after(upper, value))})
	}
	return append(out,
		Forgery{"claims: sub spelt with an escape beside sub", f.sign(f.header(), body.after(`s\u0075b`, `"other"`))},
		Forgery{"claims: sub spelt with a long s beside sub", f.sign(f.header(), body.after("\u017fub", `"other"`))},
		Forgery{"claims: an unknown member twice", f.sign(f.header(), body.after("x", `1`).after("x", `2`))})
}
