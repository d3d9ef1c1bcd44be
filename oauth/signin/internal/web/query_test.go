package web

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestCompletedPromptIsNotRepeated(t *testing.T) {
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
		if got := Onward(query); got != "/oauth/authorize?"+want {
			t.Errorf("onward(%q) = %q, want %q", query, got, "/oauth/authorize?"+want)
		}
	}
	if got := Onward(""); got != "/oauth/signin" {
		t.Errorf("onward() = %q, want /oauth/signin", got)
	}
}

func TestBytesNoURLMayHoldAreEscapedAndSayTheSame(t *testing.T) {
	for query, want := range map[string]string{
		"state=é#x":          "state=%C3%A9%23x",
		"state=\xff":         "state=%FF",
		"a=b&c='\"<>`{}|^\\": "a=b&c='\"<>`{}|^\\",
	} {
		if got, err := Carry(query); got != want || err != nil {
			t.Errorf("carry(%q) = %q, %v, want %q", query, got, err, want)
		}
	}
}

func FuzzOnward(f *testing.F) {
	for _, seed := range []string{authorizeQuery, "prompt=login+consent&max_age=0", "//evil.example", "a#b", "%", "&&",
		"prompt=%20login", ScanPath + "ABCDEFGHIJKLMNOPQRSTUVWXYZ", ScanPath + "//evil.example",
		"/oauth/signin/scan/ABCDEFGHIJKLMNOPQRSTUVWX%2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		safe, err := Carry(query)
		if err != nil {
			return
		}
		to := Onward(safe)
		if strings.ContainsFunc(to, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
			t.Fatalf("onward(%q) = %q, holds what no header may", query, to)
		}
		if isScan(safe) {
			if !regexp.MustCompile(`^/oauth/signin/scan/[A-Z2-7]{26}$`).MatchString(to) {
				t.Fatalf("onward(%q) = %q, want the page of a scan", query, to)
			}
			return
		}
		if query == AccountPath && to == AccountPath {
			return
		}
		if query != "" && !strings.HasPrefix(to, "/oauth/authorize?") {
			t.Fatalf("onward(%q) = %q, want it under /oauth/authorize", query, to)
		}
		if again, err := Carry(safe); again != safe || err != nil {
			t.Fatalf("carry(%q) = %q, %v, want it unchanged", safe, again, err)
		}
		for _, to := range []string{Allowed(safe), Refused(safe)} {
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

func TestScanPathIsExact(t *testing.T) {
	id := strings.Repeat("A", 26)
	for query, want := range map[string]bool{
		ScanPath + id: true, ScanPath + id + "A": false, ScanPath + id[1:]: false, ScanPath + id[1:] + "/": false,
		ScanPath + id + "?":     false,
		ScanPath + id[1:] + "a": false, "/" + ScanPath + id: false, ScanPath + id + "&client_id=x": false, ScanPath: false,
		id:                                       false,
		ScanPath + "../../../../evil.example/AA": false, "https://evil.example" + ScanPath + id: false,
		ScanPath + id[2:] + "%2": false,
	} {
		if isScan(query) != want {
			t.Errorf("isScan(%q) = %v", query, !want)
		}
		if to := Onward(query); to != query == want {
			t.Errorf("onward(%q) = %q", query, to)
		}
	}
}

const authorizeQuery = "client_id=ksacme&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcb&state=a%20b%2Bc"
