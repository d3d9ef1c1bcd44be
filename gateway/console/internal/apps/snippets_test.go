package apps

import (
	"encoding/json"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"go/ast"
)

// hostile are texts that end a literal somewhere.
var hostile = []string{
	`"`, `'`, "`", `\`, `\"`, `\'`, "${x}", "$(id)", "a\nb", "a\rb", "\u2028", "\x00", "*/", "?>", "</script>", `""" + x`, "#{x}", "😀", "{{x}}", "\x7f", "%s", ": ", "- a", "BASE", "SECRET",
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

func TestTheGoCodeParsesAndSaysTheValuesWhateverTheyAre(t *testing.T) {
	for _, back := range append(hostile, "https://app.example.com/cb") {
		text := code(t, snippetsOf("https://id.example.com", "ks1", back), "Go")
		file, err := parser.ParseFile(token.NewFileSet(), "main.go", text, parser.AllErrors)
		if err != nil {
			t.Fatalf("%q: %v", back, err)
		}
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("%q: it is not formatted: %v", back, err)
		}
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

// The literal of every language but those with single quotes holds plain characters and escapes alone.
func TestNoValueEndsItsLiteral(t *testing.T) {
	for _, title := range []string{"Node", "Python", "Java"} {
		plain := code(t, snippetsOf("https://id.example.com", "ks1", "https://app.example.com/cb"), title)
		before, after, ok := strings.Cut(plain, `"https://app.example.com/cb"`)
		if !ok || strings.Contains(plain, "BACK") || !strings.Contains(plain, `"https://id.example.com"`) {
			t.Fatalf("%s: %s", title, plain)
		}
		for _, back := range hostile {
			text := code(t, snippetsOf("https://id.example.com", "ks1", back), title)
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

func TestAValueBetweenSingleQuotesIsReadBackAsItIs(t *testing.T) {
	for _, back := range hostile {
		all := snippetsOf("https://id.example.com", "ks1", back)
		// A shell has no escapes between single quotes: what it reads is the text with each '\'' undone.
		if want := "redirect_uri='" + strings.ReplaceAll(back, "'", `'\''`) + "' "; !strings.Contains(code(t, all, "curl"), want) {
			t.Errorf("curl: %q is not written as %s", back, want)
		}
		if want := "'" + strings.ReplaceAll(strings.ReplaceAll(back, `\`, `\\`), "'", `\'`) + "',\n    'urlAuthorize'"; !strings.Contains(code(t, all, "PHP"), want) {
			t.Errorf("PHP: %q is not written as %s", back, want)
		}
	}
	if raw, err := json.Marshal(snippetsOf("a", "b", "c")); err != nil || !strings.Contains(string(raw), `"title":"curl"`) {
		t.Errorf("%s %v", raw, err)
	}
}
