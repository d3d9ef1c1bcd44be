package apps

import (
	"encoding/json"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway/internal/adminapi"
)

// hostile are texts that end a literal somewhere.
var hostile = []string{
	`"`, `'`, "`", `\`, `\"`, `\'`, "${x}", "$(id)", "a\nb", "a\rb", "\u2028", "\x00", "*/", "?>", "</script>", `""" + x`, "#{x}", "😀", "{{x}}", "\x7f", "%s", ": ", "- a", "BASE", "SECRET",
}

func confidential(base, back string) subject {
	return subject{Base: base, ID: "ks1", Back: back, Alg: "HS256"}
}

func code(t *testing.T, all []snippet, title string) string {
	t.Helper()
	for _, s := range all {
		if strings.HasPrefix(s.Title, title) {
			return s.Code
		}
	}
	t.Fatalf("no code for %s", title)
	return ""
}

func TestGoCodeParsesAndSaysTheValuesWhateverTheyAre(t *testing.T) {
	for _, back := range append(hostile, "https://app.example.com/cb") {
		file := parsed(t, code(t, snippetsOf(confidential("https://id.example.com", back)), "Go"))
		values := map[string]string{}
		ast.Inspect(file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if lit, ok := kv.Value.(*ast.BasicLit); ok {
					values[kv.Key.(*ast.Ident).Name], _ = strconv.Unquote(lit.Value)
				}
			}
			return true
		})
		if values["ClientID"] != "ks1" || values["ClientSecret"] != placeholder || values["RedirectURL"] != back {
			t.Errorf("%q: the code says %q", back, values)
		}
	}
}

// parsed returns the syntax of Go code, which is formatted.
func parsed(t *testing.T, text string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "signin.go", text, parser.AllErrors)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
		t.Errorf("it is not formatted: %v\n%s", err, text)
	}
	return file
}

// An application without a secret is shown code without one, and each algorithm is in the code of each library.
func TestCodeIsThatOfTheApplication(t *testing.T) {
	for _, alg := range []string{"HS256", "ES256", "RS256", "EdDSA"} {
		for _, public := range []bool{false, alg != "HS256"} {
			of := confidential("http://127.0.0.1:8080", "https://app.example.com/cb")
			of.Alg, of.Public = alg, public
			all := snippetsOf(of)
			parsed(t, code(t, all, "Go"))
			for _, s := range all {
				if strings.Contains(s.Code, placeholder) == public {
					t.Errorf("%s of a public (%v) application:\n%s", s.Title, public, s.Code)
				}
				asks := s.Title[0] == 'G' || s.Title[0] == 'N' || s.Title[0] == 'J' && alg != "RS256" // which Spring expects
				if asks && !strings.Contains(s.Code, alg) {
					t.Errorf("%s says nothing of %s:\n%s", s.Title, alg, s.Code)
				}
			}
		}
	}
}

// A program on the user's own device has no TLS, so the code that is shown leads back to it by http.
func TestCodeLeadsBackToWhereTheApplicationIs(t *testing.T) {
	s := &Apps{c: Config{BaseURL: "https://id.example.com"}}
	for domain, want := range map[string]string{
		"app.example.com": `"https://app.example.com/callback"`,
		"127.0.0.1:3000":  `"http://127.0.0.1:3000/callback"`,
		"localhost":       `"http://localhost/callback"`,
	} {
		of := appRecord{AppRecord: adminapi.AppRecord{ClientID: "ks1", Domains: []string{domain}, IDTokenAlg: "HS256"}}
		if text := code(t, s.snippets(of), "Go"); !strings.Contains(text, want) {
			t.Errorf("%s: no %s in\n%s", domain, want, text)
		}
	}
}

// The literal of every language but those with single quotes holds plain characters and escapes alone.
func TestSnippetValuesNeverEndTheirLiteral(t *testing.T) {
	for _, title := range []string{"Node", "Python", "Java"} {
		plain := code(t, snippetsOf(confidential("https://id.example.com", "https://app.example.com/cb")), title)
		before, after, ok := strings.Cut(plain, `"https://app.example.com/cb"`)
		if !ok || strings.Contains(plain, "BACK") || !strings.Contains(plain, `"https://id.example.com"`) {
			t.Fatalf("%s: %s", title, plain)
		}
		for _, back := range hostile {
			text := code(t, snippetsOf(confidential("https://id.example.com", back)), title)
			value, ok := strings.CutPrefix(text, before)
			value, ok2 := strings.CutSuffix(value, after)
			inside, ok3 := strings.CutPrefix(strings.TrimSuffix(value, `"`), `"`)
			if !ok || !ok2 || !ok3 || strings.ContainsAny(inside, "\"'`$<\n\r\u2028\x00") {
				t.Errorf("%s: %q is written as %s", title, back, value)
			}
			if escaped := strings.NewReplacer(`\u{`, "", `\U`, "").Replace(inside); strings.Contains(escaped, `\`) {
				t.Errorf("%s: %q is written with another escape: %s", title, back, value)
			}
		}
	}
}

func TestValueBetweenSingleQuotesIsReadBackAsItIs(t *testing.T) {
	for _, back := range hostile {
		all := snippetsOf(confidential("https://id.example.com", back))
		// A shell has no escapes between single quotes: what it reads is the text with each '\'' undone.
		if want := "redirect_uri='" + strings.ReplaceAll(back, "'", `'\''`) + "' "; !strings.Contains(code(t, all, "curl"), want) {
			t.Errorf("curl: %q is not written as %s", back, want)
		}
		if want := "'" + strings.ReplaceAll(strings.ReplaceAll(back, `\`, `\\`), "'", `\'`) + "',\n    'urlAuthorize'"; !strings.Contains(code(t, all, "PHP"), want) {
			t.Errorf("PHP: %q is not written as %s", back, want)
		}
	}
	raw, err := json.Marshal(snippetsOf(confidential("a", "c")))
	if err != nil || !strings.Contains(string(raw), `"title":"curl"`) {
		t.Errorf("%s %v", raw, err)
	}
}
