package page

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Decision 22: ui_locales, then Accept-Language, then English.
func TestReaderGetsTheLanguageTheyWantMost(t *testing.T) {
	for _, c := range []struct {
		promise, uiLocales, accept string
		want                       Lang
	}{
		{"nothing asked: English", "", "", English},
		{"the first of ui_locales that there is", "fr-CA zh-CN en", "", Chinese},
		{"ui_locales before Accept-Language", "en", "zh-CN", English},
		{"ui_locales without one we have leaves it to Accept-Language", "fr de", "zh", Chinese},
		{"tags in any case", "ZH-cn", "", Chinese},
		{"every region and script of Chinese", "", "zh-Hant-TW", Chinese},
		{"the highest q", "", "en;q=0.5, zh-CN;q=0.8", Chinese},
		{"no q is the highest", "", "zh;q=0.9, en", English},
		{"of equals the first", "", "zh-CN, en", Chinese},
		{"q=0 is never", "", "zh;q=0, fr", English},
		{"anything is English", "", "fr, *;q=0.5, zh;q=0.1", English},
		{"a q that is none counts for nothing", "", "zh;q=lots, zh;q=7, zh;q=NaN", English},
		{"a prefix is no language", "", "zhx, zha-CN", English},
		{"several headers' worth of rubbish", "", ",,;q=1,;;,zh-CN", Chinese},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Language", c.accept)
		if got := LangOf(r, c.uiLocales); got != c.want {
			t.Errorf("%s: LangOf(%q, %q) = %q, want %q", c.promise, c.accept, c.uiLocales, got, c.want)
		}
	}
}

func TestTextsAreFilledIn(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{English.T("Sign in to %s", "50% %s"), "Sign in to 50% %s"},
		{Chinese.T("Sign in to %s", "Acme"), "登录 Acme"},
		{Chinese.T("not in the table: 100%"), "not in the table: 100%"},
		{string(Chinese.Of("not in the table")), "en"},
		{string(Chinese.Of("Sign in")), "zh-CN"},
		{string(English.Of("Sign in")), "en"},
	} {
		if c.got != c.want {
			t.Errorf("text = %q, want %q", c.got, c.want)
		}
	}
}

func TestTranslationHasTheSamePlacesToFillIn(t *testing.T) {
	seen := map[string]bool{}
	for _, texts := range chinese {
		for en, zh := range texts {
			if strings.Count(en, "%s") != strings.Count(zh, "%s") || zh == "" {
				t.Errorf("%q is translated as %q, want as many %%s", en, zh)
			}
			if seen[en] {
				t.Errorf("%q is translated twice", en)
			}
			seen[en] = true
		}
	}
}

// Every template of the pages, in whichever room, speaks both languages.
func TestTextOfATemplateIsInTheTable(t *testing.T) {
	var templates []string
	for _, pattern := range []string{"*.html", "../../oauth/*.html", "../../oauth/signin/*.html",
		"../../oauth/signin/internal/*/*.html"} {
		found, _ := filepath.Glob(pattern)
		templates = append(templates, found...)
	}
	text := regexp.MustCompile(`\.T "([^"]*)"`)
	seen := 0
	for _, name := range templates {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range text.FindAllStringSubmatch(string(raw), -1) {
			seen++
			if _, in := Chinese.translate(m[1]); in != Chinese {
				t.Errorf("%s says %q, which is not in the table", name, m[1])
			}
		}
	}
	if seen < 8 {
		t.Fatalf("%d texts found: the test looks in the wrong place", seen)
	}
}
