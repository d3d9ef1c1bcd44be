package forgery

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// Forgery is one token to be refused.
type Forgery struct {
	Name  string
	Token string
}

// Service is the service whose tokens are forged.
type Service struct {
	Keys     []storage.SigningKey // with their private parts; at least one active
	Issuer   string               // also the audience, unless there is one
	Audience string
	ClientID string   // an application that exists
	Sub      string   // a user that exists
	Scope    string   // "": openid profile
	Actors   []string // act, the current one first; nil: none
}

// All returns some 300 forgeries, made anew at each call. They are to be tried within the hour:
// most say that they expire after it.
func All(t testing.TB, s Service) []Forgery {
	t.Helper()
	f := newForger(t, s)
	return slices.Concat(f.unsigned(), f.confused(), f.headers(), f.brokenHeaders(), f.unknownKeys(), f.claims(),
		f.doubled(), f.respelt(), f.misshapen(), f.otherFormats())
}

// Genuine returns a token that must be accepted.
func Genuine(t testing.TB, s Service) string {
	t.Helper()
	f := newForger(t, s)
	return f.sign(f.header(), f.body())
}

// Sendable reports whether the token arrives as it is when an HTTP client sends it: no
// client sends control characters, and a space at the end is taken off on the way, which
// makes the genuine token of it.
func (f Forgery) Sendable() bool {
	return !strings.ContainsFunc(f.Token, func(r rune) bool { return r < ' ' || r == 0x7F }) &&
		!strings.HasSuffix(f.Token, " ")
}

// forger signs with the first active key of the service.
type forger struct {
	testing.TB
	Service
	pairs []pair
	main  pair
	now   time.Time
}

func newForger(t testing.TB, s Service) *forger {
	t.Helper()
	f := &forger{TB: t, Service: s, now: time.Now()}
	for _, k := range s.Keys {
		f.pairs = append(f.pairs, f.open(k))
	}
	i := slices.IndexFunc(f.pairs, func(p pair) bool { return p.State == storage.KeyActive })
	if i < 0 {
		t.Fatal("forgery: no active key to sign with")
	}
	f.main = f.pairs[i]
	return f
}

func (f *forger) header() object { return f.headerOf(f.main.Alg, f.main.ID) }

func (f *forger) headerOf(alg, kid string) object {
	return object{{"alg", quote(alg)}, {"kid", quote(kid)}, {"typ", `"at+jwt"`}}
}

func (f *forger) body() object {
	body := object{
		{"iss", quote(f.Issuer)}, {"sub", quote(f.Sub)}, {"aud", quote(cmp.Or(f.Audience, f.Issuer))},
		{"client_id", quote(f.ClientID)}, {"scope", quote(cmp.Or(f.Scope, "openid profile tools"))},
		{"jti", quote(handle.NewGrant(f.now))}, {"gid", quote(handle.NewGrant(f.now))},
		{"iat", f.in(0)}, {"exp", f.in(time.Hour)},
	}
	act := ""
	for _, actor := range slices.Backward(f.Actors) {
		if act != "" {
			act = `,"act":` + act
		}
		act = `{"sub":` + quote(actor) + act + `}`
	}
	if act != "" {
		body = append(body, member{"act", act})
	}
	return body
}

// in writes the time that is d from now.
func (f *forger) in(d time.Duration) string { return strconv.FormatInt(f.now.Add(d).Unix(), 10) }

// object is JSON whose members have an order and may be there twice; values are raw.
type object []member

type member struct{ name, value string }

func (o object) with(name, value string) object {
	o = slices.Clone(o)
	i := slices.IndexFunc(o, func(m member) bool { return m.name == name })
	if i < 0 {
		return append(o, member{name, value})
	}
	o[i].value = value
	return o
}

func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name == name })
}

func (o object) before(name, value string) object {
	return slices.Insert(slices.Clone(o), 0, member{name, value})
}

func (o object) after(name, value string) object {
	return append(slices.Clone(o), member{name, value})
}

func (o object) String() string {
	members := make([]string, len(o))
	for i, m := range o {
		members[i] = `"` + m.name + `":` + m.value
	}
	return "{" + strings.Join(members, ",") + "}"
}

func quote(text string) string {
	raw, _ := json.Marshal(text) // a string never fails
	return string(raw)
}
