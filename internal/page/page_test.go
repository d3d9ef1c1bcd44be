package page

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

func write(t *testing.T, look Look) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	if err := Write(w, http.StatusOK, look, "<h1>Hello</h1>"); err != nil {
		t.Fatal(err)
	}
	return w
}

func acme(change func(*Look)) Look {
	l := Look{Lang: English, Title: "Sign in", Brand: Brand{Name: "Acme", Mark: true}}
	if change != nil {
		change(&l)
	}
	return l
}

// hashes are the digests of the style blocks as a browser would take them.
func hashes(body string) string {
	var out []string
	for _, m := range regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(body, -1) {
		sum := sha256.Sum256([]byte(m[1]))
		out = append(out, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(out, " ")
}

func TestPageCarriesExactlyTheseHeaders(t *testing.T) {
	w := write(t, acme(nil))
	for key, want := range map[string]string{
		"Content-Type":           "text/html; charset=utf-8",
		"Content-Language":       "en",
		"X-Content-Type-Options": "nosniff",
		"X-Frame-Options":        "DENY",
		"Referrer-Policy":        "same-origin",
		"Cache-Control":          "no-store",
	} {
		if got := w.Header().Get(key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if n := len(w.Header()); n != 8 { // and Content-Length, Content-Security-Policy
		t.Errorf("%d headers: %v, want 8", n, w.Header())
	}
}

func TestPolicyAllowsWhatThePageHoldsAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		promise string
		look    Look
		images  string
		actions string
	}{
		{"plain", acme(nil), "'self' data:", "; form-action 'self'"},
		{"forms that lead elsewhere", acme(func(l *Look) { l.Leaves = true }), "'self' data:", ""},
		{"a logo elsewhere", acme(func(l *Look) { l.Brand.Logo = "https://cdn.example.com/l.svg" }), "'self' data: https:",
			"; form-action 'self'"},
		{"a logo of ours", acme(func(l *Look) { l.Brand.Logo = "/logo.svg" }), "'self' data:", "; form-action 'self'"},
		{"a colour", acme(func(l *Look) { l.Brand.Color = "#aa0000" }), "'self' data:", "; form-action 'self'"},
	} {
		w := write(t, c.look)
		want := "default-src 'none'; style-src " + hashes(w.Body.String()) + "; img-src " + c.images +
			c.actions + "; frame-ancestors 'none'; base-uri 'none'"
		if got := w.Header().Get("Content-Security-Policy"); got != want {
			t.Errorf("%s: policy\n%s, want\n%s", c.promise, got, want)
		}
	}
}

func TestPageRunsScriptsOnlyWhenLiveAndFromFilesAlone(t *testing.T) {
	const live, types = "; script-src 'self'; connect-src 'self';",
		"; require-trusted-types-for 'script'; trusted-types 'none'"
	for want, look := range map[bool]Look{false: acme(nil), true: acme(func(l *Look) { l.Live = true })} {
		policy := write(t, look).Header().Get("Content-Security-Policy")
		if strings.Contains(policy, live) != want || strings.Contains(policy, "script-src") != want ||
			strings.HasSuffix(policy, types) != want || strings.Contains(policy, "unsafe") {
			t.Errorf("live %v: policy = %q", want, policy)
		}
	}
	policy := write(t, acme(func(l *Look) { l.Scripted = true })).Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "; script-src 'self';") || strings.Contains(policy, "connect-src") ||
		!strings.HasSuffix(policy, types) {
		t.Errorf("scripted: policy = %q", policy)
	}
}

func TestBrandIsShownAsText(t *testing.T) {
	evil := `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	w := write(t, acme(func(l *Look) {
		l.Brand = Brand{Name: evil, Logo: `https://x.example/"onerror="alert(1)`, Mark: true}
		l.Title = evil
	}))
	for _, bad := range []string{"<script", "<img src=x", `"onerror`} {
		if strings.Contains(w.Body.String(), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

func TestLogoIsAnAddressOrNothing(t *testing.T) {
	for logo, want := range map[string]string{
		"https://cdn.example.com/a.png": "https://cdn.example.com/a.png",
		"/a.png":                        "/a.png",
		"//evil.example/a.png":          "",
		"/\\evil.example/a.png":         "",
		"http://cdn.example.com/a.png":  "",
		"javascript:alert(1)":           "",
		"data:image/svg+xml,<svg/>":     "",
	} {
		if got := (Brand{Logo: logo}).LogoURL(); got != want {
			t.Errorf("LogoURL(%q) = %q, want %q", logo, got, want)
		}
	}
}

// Protocol 8: branding kept in free, removed in white_label; decision 22: enterprise likewise.
func TestTierDecidesAboutTheMark(t *testing.T) {
	for tier, want := range map[string]bool{"": true, storage.TierFree: true, storage.TierWhiteLabel: false,
		storage.TierEnterprise: false} {
		w := write(t, Look{Lang: English, Title: "Sign in", Brand: BrandOf(storage.App{Name: "Acme", Tier: tier})})
		if got := strings.Contains(w.Body.String(), "Keystile"); got != want {
			t.Errorf("tier %q: page names Keystile = %v, want %v", tier, got, want)
		}
	}
}

// Decision 22.
func TestBrandIsShownWhereTheTierAllowsIt(t *testing.T) {
	own := &storage.Brand{Name: "Acme \u202eNotes", Logo: "https://cdn.example.com/l.svg", Color: "#aa0000"}
	for tier, want := range map[string]Brand{
		"":                     {Name: "App", Mark: true},
		storage.TierFree:       {Name: "App", Mark: true},
		storage.TierWhiteLabel: {Name: "Acme Notes", Logo: own.Logo, Color: own.Color},
		storage.TierEnterprise: {Name: "Acme Notes", Logo: own.Logo, Color: own.Color},
	} {
		if got := BrandOf(storage.App{Name: "App", Tier: tier, Brand: own}); got != want {
			t.Errorf("tier %q: %+v, want %+v", tier, got, want)
		}
	}
	if got := BrandOf(storage.App{Name: "App", Tier: storage.TierWhiteLabel,
		Brand: &storage.Brand{Color: "#aa0000"}}); got.Name != "App" {
		t.Errorf("without a name of its own: %+v", got)
	}
}

func TestNameCannotRewriteTheSentenceAroundIt(t *testing.T) {
	for name, want := range map[string]string{
		"Acme \u202egnp.exe\u202c":    "Acme gnp.exe",
		"  Acme\t\nNotes\x00 ":        "Acme Notes",
		"\u200b\u200b":                "",
		"蓝鲸 Café":                     "蓝鲸 Café",
		strings.Repeat("a\u0000", 2):  "a a",
		"<b>Acme</b>":                 "<b>Acme</b>",
		"Acme\u2028Notes\u2029\ufeff": "Acme Notes",
	} {
		if got := BrandOf(storage.App{Name: name}).Name; got != want {
			t.Errorf("BrandOf(%q).Name = %q, want %q", name, got, want)
		}
	}
}

func TestLetterStandsInForALogo(t *testing.T) {
	for name, want := range map[string]string{"acme": "A", "🚀 rocket": "R", "蓝鲸": "蓝", "7up": "7", "!?": "", "": ""} {
		if got := (Brand{Name: name}).Letter(); got != want {
			t.Errorf("Letter(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestPageWorksWithoutScriptsAndFetchesNothing(t *testing.T) {
	body := write(t, acme(nil)).Body.String()
	for _, bad := range []string{"<script", "javascript:", " onclick", "@import", "url(http", "<link rel=\"stylesheet\"",
		" style=\""} {
		if strings.Contains(body, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{`<html lang="en">`, `<main`, `name="viewport"`, "prefers-color-scheme: dark", "prefers-reduced-motion", ":focus-visible"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestDigestHoldsWhateverLineEndsACheckoutHas(t *testing.T) {
	if strings.Contains(string(style()), "\r") ||
		styleDigest() != digest(template.CSS(strings.ReplaceAll(tokensText+styleText, "\r", ""))) {
		t.Error("the style keeps carriage returns, which a browser drops before it takes the digest")
	}
}
