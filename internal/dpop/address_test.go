package dpop

import (
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSpellingsOfAnAddressAreTheSame(t *testing.T) {
	for _, same := range [][]string{
		{"https://id.example.com/a/b", "HTTPS://ID.Example.COM/a/b", "https://id.example.com:443/a/b",
			"https://id.example.com/a/./b", "https://id.example.com/a/c/../b", "https://id.example.com/%61/b",
			"https://id.example.com/a/b?x=1", "https://id.example.com/a/b#f", "https://id.example.com:/a/b"},
		{"http://[::1]:8080/", "http://[::1]:8080"},
		{"http://localhost/%2F%c3%a9~", "http://localhost:80/%2f%C3%A9%7E"},
		{"https://a/b/", "https://a/b/.", "https://a/b/c/..", "https://a/../b/"},
	} {
		for _, text := range same {
			if !sameAddress(text, same[0]) {
				t.Errorf("%s is not %s", text, same[0])
			}
		}
	}
	for _, other := range []string{"https://a/b//c", "https://a/b/c/", "https://a/b%2Fc", "https://a/B/c",
		"https://a:80/b/c", "http://a/b/c", "ftp://a/b/c", "//a/b/c", "https:a/b/c", "https://u@a/b/c",
		"https://a.:443/b/c", "https:///b/c", "https://a/b/%c", "https://a/b/c%00", "", "https://a/b\\c"} {
		if sameAddress(other, "https://a/b/c") {
			t.Errorf("%s is https://a/b/c", other)
		}
	}
}

// The spellings of a path that RFC 3986 calls equivalent have one normal form, which is its own, and another path has
// another one.
func TestNormalFormIsOneForEachAddress(t *testing.T) {
	const bytes = "aZ09-._~!$&'()*+,;=:@/%2Fé"
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var plain, spelled strings.Builder
		for range r.IntN(4) + 1 {
			plain.WriteString("/")
			spelled.WriteString([]string{"/", "/./", "/x/../"}[r.IntN(3)])
			plain.WriteString("s") // no segment of dots
			spelled.WriteString([]string{"s", "%73"}[r.IntN(2)])
			for range r.IntN(6) {
				c := bytes[r.IntN(len(bytes))]
				switch {
				case isUnreserved(c):
					plain.WriteByte(c)
					spelled.WriteString([]string{string(c), escaped(c, r)}[r.IntN(2)])
				case c == '/' || c == '%' || c > '~': // escaped in each spelling
					plain.WriteString(strings.ToUpper(escaped(c, r)))
					spelled.WriteString(escaped(c, r))
				default:
					plain.WriteByte(c)
					spelled.WriteByte(c)
				}
			}
		}
		a, ok := normal("https://id.example.com" + plain.String())
		b, ok2 := normal("HTTPS://id.EXAMPLE.com:443" + spelled.String() + "?q=/../#f")
		again, ok3 := normal(a)
		if !ok || !ok2 || !ok3 || a != b || a != again || a != "https://id.example.com"+plain.String() {
			t.Fatalf("%s is %s, %s is %s, and that %s", plain.String(), a, spelled.String(), b, again)
		}
		if other, _ := normal(a + "s"); other == a {
			t.Fatalf("%ss is %s", a, a)
		}
	}
}

func escaped(c byte, r *rand.Rand) string {
	digits := []string{"0123456789abcdef", "0123456789ABCDEF"}[r.IntN(2)]
	return "%" + string(digits[c>>4]) + string(digits[c&15])
}

func FuzzNormalFormIsItsOwn(f *testing.F) {
	for _, s := range []string{"https://a/b/../c", "http://[::1]/%41", "https://a", "https://a/..%2f/", "https://A:80/%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if a, ok := normal(text); ok {
			if b, ok := normal(a); !ok || a != b {
				t.Errorf("%q is %q, and that %q", text, a, b)
			}
		}
	})
}

func TestPathIsTheOneThatTheClientSent(t *testing.T) {
	r := httptest.NewRequest("GET", "/svc/a%2Fb?x=1", nil)
	r.URL.Path, r.URL.RawPath = "/a/b", "/a%2Fb" // a handler has cut off /svc
	if got := pathOf(r); got != "/svc/a%2Fb" {
		t.Errorf("path %q", got)
	}
	r.RequestURI = ""
	if got := pathOf(r); got != "/a%2Fb" {
		t.Errorf("path %q", got)
	}
}
