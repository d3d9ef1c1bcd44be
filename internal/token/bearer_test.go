package token

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestBearerReadsOneWellFormedHeader(t *testing.T) {
	long := strings.Repeat("a", maxToken)
	for _, c := range []struct {
		header []string
		want   string
		err    error
	}{
		{[]string{"Bearer abc"}, "abc", nil},
		{[]string{"bearer a.b-c_d~e+f/g=="}, "a.b-c_d~e+f/g==", nil},
		{[]string{"BEARER abc"}, "abc", nil},
		{[]string{"Bearer " + long}, long, nil},
		{nil, "", ErrNoToken},
		{[]string{""}, "", ErrNoToken},
		{[]string{"Basic YTpi"}, "", ErrNoToken},
		{[]string{"DPoP abc"}, "", ErrNoToken},
		{[]string{"Bearerabc"}, "", ErrNoToken},
		{[]string{" Bearer abc"}, "", ErrNoToken},
		{[]string{"Bearer"}, "", ErrInvalid},
		{[]string{"Bearer "}, "", ErrInvalid},
		{[]string{"Bearer  abc"}, "abc", nil},
		{[]string{"Bearer abc "}, "", ErrInvalid},
		{[]string{"Bearer abc def"}, "", ErrInvalid},
		{[]string{"Bearer abc, Bearer def"}, "", ErrInvalid},
		{[]string{"Bearer =="}, "", ErrInvalid},
		{[]string{"Bearer a=b"}, "", ErrInvalid},
		{[]string{"Bearer a\tb"}, "", ErrInvalid},
		{[]string{"Bearer a\nb"}, "", ErrInvalid},
		{[]string{"Bearer a\x00"}, "", ErrInvalid},
		{[]string{"Bearer 密钥"}, "", ErrInvalid},
		{[]string{`Bearer "abc"`}, "", ErrInvalid},
		{[]string{"Bearer a%2Eb"}, "", ErrInvalid},
		{[]string{"Bearer " + long + "a"}, "", ErrInvalid},
		{[]string{"Bearer abc", "Bearer abc"}, "", ErrInvalid},
		{[]string{"Basic YTpi", "Bearer abc"}, "", ErrInvalid},
		{[]string{"Bearer abc", ""}, "", ErrInvalid},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Authorization"] = c.header
		if got, err := Bearer(r); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("Bearer(%.40q) = %.40q, %v, want %.40q, %v", c.header, got, err, c.want, c.err)
		}
	}
}

func TestBearerLooksIntoNeitherQueryNorBody(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/?access_token=abc", strings.NewReader("access_token=abc"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", "access_token=abc")
	r.Header.Set("Proxy-Authorization", "Bearer abc")
	if got, err := Bearer(r); got != "" || !errors.Is(err, ErrNoToken) {
		t.Errorf("Bearer() = %q, %v, want ErrNoToken", got, err)
	}
	if r.Form != nil {
		t.Error("Bearer() parsed the form, want the body left for the handler")
	}
}

func FuzzBearer(f *testing.F) {
	for _, text := range []string{"", "Bearer a", "bearer a.b.c==", "Bearer  a", "Bearer", "Basic a", "Bearer \xff",
		"Bearer a\n"} {
		f.Add(text)
	}
	strict := regexp.MustCompile(`\A(?i:Bearer) +([A-Za-z0-9._~+/-]+=*)\z`)
	f.Fuzz(func(t *testing.T, text string) {
		r := &http.Request{Header: http.Header{"Authorization": {text}}}
		got, err := Bearer(r)
		m := strict.FindStringSubmatch(text)
		good := m != nil && len(m[1]) <= maxToken
		switch {
		case good && (err != nil || got != m[1]):
			t.Errorf("Bearer(%q) = %q, %v, want %q", text, got, err, m[1])
		case !good && (got != "" || !errors.Is(err, ErrNoToken) && !errors.Is(err, ErrInvalid)):
			t.Errorf("Bearer(%q) = %q, %v, want ErrNoToken or ErrInvalid", text, got, err)
		}
	})
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/" // RFC 6750 2.1

func TestBearerLooksAtEveryCharacter(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for size := 1; size <= 26; size++ {
		for i := range size * 256 {
			text := []byte(strings.Repeat("a", size))
			at, c := i/256, byte(i)
			if text[at] = c; at == 0 && c == ' ' { // it belongs to what stands before
				continue
			}
			r.Header.Set("Authorization", "Bearer "+string(text))
			want := strings.IndexByte(alphabet, c) >= 0 || c == '=' && at == size-1 && size > 1
			if got, err := Bearer(r); want && got != string(text) || !want && !errors.Is(err, ErrInvalid) {
				t.Errorf("Bearer(%q) = %q, %v, want it: %t", text, got, err, want)
			}
		}
	}
}

func BenchmarkBearer(b *testing.B) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+strings.Repeat("aB3-_", 92))
	for b.Loop() {
		Bearer(r)
	}
}
