package urlpath

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestPrefixIsCutWhereASegmentEndsAndAsItIsWritten(t *testing.T) {
	for path, want := range map[string]string{
		"/ai/x": "/x", "/ai": "", "/ai/": "/", "/ai//x": "//x", "/ai/a%2Fb": "/a%2Fb", "/ai/ai": "/ai",
		"/aix": "no", "/ai%2fx": "no", "/ai%2Fx": "no", "/%61i/x": "no", "/ai;x/y": "no", "/ai%5cx": "no", "//ai/x": "no",
		"/AI/x": "no", "/a": "no", "": "no",
	} {
		if rest, ok := Cut(path, "/ai"); ok != (want != "no") || ok && rest != want {
			t.Errorf("Cut(%q) = %q, %t, want %q", path, rest, ok, want)
		}
	}
	if rest, ok := Cut("/%E6%94%AF/x", Escape("/支")); rest != "/x" || !ok {
		t.Errorf("a prefix that needs encoding: %q, %t", rest, ok)
	}
}

func TestPathIsReadInEveryWayInWhichAServiceMay(t *testing.T) {
	for path, want := range map[string]string{
		"/ai%2fx": "/ai/x", "/ai%5Cx": "/ai/x", "/ai;p=1/x": "/ai/x", "/ai/;p/x": "/ai/x", "//ai//x": "/ai/x",
		"/%61i/x": "/ai/x", "/ai%252fx": "/ai/x",
		"/%2561i/x": "/ai/x", "/ai%3bp/x": "/ai/x", "/ai%253Bp/x": "/ai/x", "/ai%2f%2fx/": "/ai/x/",
		"/ai%zz%2fx": "/ai%25zz/x", "/;": "/", "//": "/",
		"/ai;p%2fq/x": "/ai/x", "/%E6%94%AF%2fx": "/%E6%94%AF/x",
	} {
		if got := Readings(path); !slices.Contains(got, want) {
			t.Errorf("Readings(%q) = %q, want %q among them", path, got, want)
		}
	}
	for _, path := range []string{"/ai/x", "/", "/ai/", "/a.b/c~d/(e)"} {
		if got := Readings(path); got != nil {
			t.Errorf("Readings(%q) = %q, want none", path, got)
		}
	}
}

func TestPathThatMayLeadUpwardsIsSeen(t *testing.T) {
	for path, want := range map[string]bool{
		"/..": true, "/.": true, "/a/../b": true, "/%2e%2e/b": true, "/a/%2E./b": true, "/a%2f..%2fb": true, "/..;/b": true, "/..;a=b": true, `/..\b`: true,
		"/..%5Cb": true, "/%2e%2e%3b/b": true, "/%252e%252e/b": true, "/a%252f..%252fb": true, "/a%255c.%252e/b": true,
		"/..%3bx%2fb": true, "/%zz/%2e%2e": true, "/100%25/%252e%252e": true,
		"/...": false, "/a..b": false, "/.well-known/x": false, "/a;..": false, "/..a": false, "/a%2Fb": false,
		"/100%25": false, "/%2525": false, "/": false, "": false,
	} {
		if got := Climbs(path); got != want {
			t.Errorf("Climbs(%q) = %t, want %t", path, got, want)
		}
	}
}

// However a path is put together: what is read in it stays a path, and a reading that begins
// with a prefix is found whatever else is done to it.
func FuzzReadings(f *testing.F) {
	for _, seed := range []string{"/ai%2fx", "/a;b//c%5cd", "/%25%32%65/%", "//;;/\\", "/%zz%2525", "/支%2f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u := url.URL{Path: path}
		escaped := u.EscapedPath()
		for _, reading := range Readings(escaped) {
			if !strings.HasPrefix(reading, "/") || strings.Contains(reading, "//") {
				t.Errorf("Readings(%q): %q", escaped, reading)
			}
		}
		if rest, ok := Cut(escaped, "/ai"); ok && "/ai"+rest != escaped {
			t.Errorf("Cut(%q) = %q", escaped, rest)
		}
		Climbs(escaped)
	})
}
