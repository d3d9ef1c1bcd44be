package signin

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestWhatASignInHasSettledIsNotAskedAgain(t *testing.T) {
	for query, want := range map[string]string{
		"prompt=login&state=a%20b":               "state=a%20b",
		"a=1&prompt=select_account&b=2":          "a=1&b=2",
		"prompt=login+select_account":            "",
		"prompt=login%20consent&x=%7e":           "prompt=consent&x=%7e",
		"%70rompt=lo%67in&x":                     "x",
		"max_age=0&a=1":                          "a=1",
		"a=1&max_age=00":                         "a=1",
		"max_age=1":                              "max_age=1",
		"max_age=3600&prompt=none":               "max_age=3600&prompt=none",
		"prompt=consent&prompt=none":             "prompt=consent&prompt=none",
		"prompt=Login":                           "prompt=Login",
		"prompt=&max_age=":                       "prompt=&max_age=",
		"state=prompt%3Dlogin&nonce=max_age%3D0": "state=prompt%3Dlogin&nonce=max_age%3D0",
		"&&a=%zz&=&prompt=%zz&max_age=%30%zz&":   "&&a=%zz&=&prompt=%zz&max_age=%30%zz&",
		"my_prompt=login&prompt":                 "my_prompt=login&prompt",
	} {
		if got := onward(query); got != "/oauth/authorize?"+want {
			t.Errorf("onward(%q) = %q, want %q", query, got, "/oauth/authorize?"+want)
		}
	}
	if got := onward(""); got != "/oauth/signin" {
		t.Errorf("onward() = %q, want /oauth/signin", got)
	}
}

func TestAQueryCanNotLeadAnywhereElse(t *testing.T) {
	rm := open(t, nil)
	for _, query := range []string{
		"//evil.example", "\\\\evil.example", "/\\evil.example/", "https://evil.example/", "@evil.example", ".evil.example",
		"?redirect_uri=//evil.example", "javascript:alert(1)", "a=1#//evil.example", "é=ü",
	} {
		a := rm.do(post("username", "mina", "password", password, "query", query))
		to, err := url.Parse(origin + "/oauth/signin")
		must(t, err)
		to, err = to.Parse(a.Header().Get("Location"))
		must(t, err)
		if a.Code != 303 || to.Scheme+"://"+to.Host+to.Path != origin+"/oauth/authorize" || to.Fragment != "" {
			t.Errorf("%q leads to %q, want /oauth/authorize here", query, to)
		}
	}
}

func TestAQueryCanNotSplitAHeader(t *testing.T) {
	rm := open(t, nil)
	for _, query := range []string{"a\r\nSet-Cookie: x=1", "a\nb", "a\rb", "a\x00b", "a b", "a\tb", "a\x7fb", "a\x1fb"} {
		a := rm.do(post("username", "mina", "password", password, "query", query))
		if a.Code != 400 || a.cookie() != "" || a.Header().Get("Location") != "" {
			t.Errorf("%q = %d with cookie %q, want 400 without one", query, a.Code, a.cookie())
		}
	}
}

func TestBytesNoURLMayHoldAreEscapedAndSayTheSame(t *testing.T) {
	for query, want := range map[string]string{
		"state=é#x":          "state=%C3%A9%23x",
		"state=\xff":         "state=%FF",
		"a=b&c='\"<>`{}|^\\": "a=b&c='\"<>`{}|^\\",
	} {
		if got, err := carry(query); got != want || err != nil {
			t.Errorf("carry(%q) = %q, %v, want %q", query, got, err, want)
		}
	}
}

func FuzzOnward(f *testing.F) {
	for _, seed := range []string{asked, "prompt=login+consent&max_age=0", "//evil.example", "a#b", "%", "&&", "prompt=%20login", scanPath + "ABCDEFGHIJKLMNOPQRSTUVWXYZ", scanPath + "//evil.example", "/oauth/signin/scan/ABCDEFGHIJKLMNOPQRSTUVWX%2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		safe, err := carry(query)
		if err != nil {
			return
		}
		to := onward(safe)
		if strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
			t.Fatalf("onward(%q) = %q, holds what no header may", query, to)
		}
		if isScan(safe) {
			if !regexp.MustCompile(`^/oauth/signin/scan/[A-Z2-7]{26}$`).MatchString(to) {
				t.Fatalf("onward(%q) = %q, want the page of a scan", query, to)
			}
			return
		}
		if query == accountPath && to == accountPath {
			return
		}
		if query != "" && !strings.HasPrefix(to, "/oauth/authorize?") {
			t.Fatalf("onward(%q) = %q, want it under /oauth/authorize", query, to)
		}
		if again, err := carry(safe); again != safe || err != nil {
			t.Fatalf("carry(%q) = %q, %v, want it unchanged", safe, again, err)
		}
		for _, to := range []string{allowed(safe), refused(safe)} {
			if !isPage(safe) && safe != "" && !strings.HasPrefix(to, "/oauth/authorize?") {
				t.Fatalf("an answer to %q leads to %q", query, to)
			}
		}
		before, _ := url.ParseQuery(safe)
		_, after, _ := strings.Cut(to, "?")
		left, _ := url.ParseQuery(after)
		for name := range before {
			if name != "prompt" && name != "max_age" && strings.Join(left[name], "\x00") != strings.Join(before[name], "\x00") {
				t.Fatalf("onward(%q) = %q, lost %q", query, to, name)
			}
		}
	})
}
