package pages

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/test/campaigns/browser"
	"github.com/keystile/keystile/internal/test/filled"
)

var (
	//go:embed testdata/design.js
	designScript string
	//go:embed testdata/words.txt
	wordsText string

	// latinWords may stand on a Chinese page.
	latinWords = wordsOf(wordsText)
)

// wordsOf reads words, and lines that are a comment.
func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			for _, word := range strings.Fields(line) {
				all[strings.ToLower(word)] = true
			}
		}
	}
	return all
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// widths are those of the windows that a page is measured in.
func widths() []int {
	if os.Getenv(everyReader) == "" {
		return []int{390, 1280}
	}
	return []int{390, 768, 1280, 1440}
}

// measured holds the answer of testdata/design.js.
type measured struct {
	Faults []string
	Latin  [][2]string // texts with letters of ours, and where they stand
}

// design holds a page against what all pages keep, in windows of several widths.
func (v *walkthrough) design(name string, lang page.Lang) {
	v.t.Helper()
	told := map[string]bool{}
	for _, width := range widths() {
		v.Look(width, false)
		var m measured
		v.Ask(designScript, &m)
		if lang == page.Chinese {
			for _, l := range m.Latin {
				if strings.Contains(l[1], "table.settings") && strings.ContainsFunc(l[0], isHan) {
					continue // it names values
				}
				if words := unknownWords(l[0]); len(words) > 0 {
					m.Faults = append(m.Faults, fmt.Sprintf("%q is not Chinese: %s", words, l[1]))
				}
			}
		}
		for _, fault := range m.Faults {
			if !told[fault] {
				v.t.Errorf("%s at %d: %s", name, width, fault)
			}
			told[fault] = true
		}
	}
	v.Magnify(1)
}

// givenNames lists texts of the people and the documents of the tests, who write in their own language.
var givenNames = []string{appName, "Mina Park", "Café & Söhne", "Book shop",
	"Nightly build", "nightly build", "Claude Code", "Security Team",
	"Web shop", "Post office", "For answering customers", "Search the letters that you may read",
	"Send a letter in your name",
	"Pay an order back to the customer", "Orders of the shop: find, place and cancel them",
	"the endpoint answered 503", "openid-client", "oauth2-client", "mcp-remote",
	"everyone（所有人）", "owner（所有者及管理员）", "bad domain !", "nowhere", "Corner shop", "nothing like it", "user:nobody",
	`[{"claim": "department", "from": "attribute:dept"}]`, "department", "team-*", "ops Operations", "Operations", "Sales"}

var (
	// idsOfOurs are addresses, commands, and names that programs have: with a point, a line, a digit or a hump.
	idsOfOurs = regexp.MustCompile(`[A-Za-z][\w+-]*:/?/?[^\s\p{Han}）】，。；、]+|/[\w{}/.-]+|[\w.+-]+@[\w.-]+|` +
		`keystile( --?[a-z-]+| [a-z]+| [A-Z_]+)+|ks-\w+|` +
		`(?:user|group|role|app|tier):\p{Han}+|[\w-]*\w[._\d=:][\w.=:-]*\w|\w*[a-z][A-Z]\w*`)
	latinWord = regexp.MustCompile(`[A-Za-z]{3,}`)
	summaries = regexp.MustCompile(`"(?:summary|description)":\s*"([^"]+)"`)
	// properties are named by the document of a tool, and by its answers.
	properties = regexp.MustCompile(`"(\w+)":\s*{|"name":"(\w+)"|"enum":\["(\w+)","(\w+)","(\w+)"`)
)

// named tells of each word of the tools of the tests, and of each value of a setting, that it is one.
var named = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"orders": true, "name": true, "total": true, "notes": true, "everyone": true, "owner": true,
		"ops": true}
	for _, m := range properties.FindAllStringSubmatch(filled.Bookshop, -1) {
		for _, word := range m[1:] {
			all[word] = true
		}
	}
	return all
})

// unknownWords returns the words of a text that a Chinese page does not say.
func unknownWords(text string) (unknown []string) {
	for _, name := range givenNames {
		text = strings.ReplaceAll(text, name, " ")
	}
	for _, m := range summaries.FindAllStringSubmatch(filled.Bookshop, -1) {
		text = strings.ReplaceAll(text, m[1], " ")
	}
	if named()[strings.Trim(text, `" *`)] {
		return nil
	}
	for _, word := range latinWord.FindAllString(idsOfOurs.ReplaceAllString(text, " "), -1) {
		if !latinWords[strings.ToLower(word)] && !slices.Contains(unknown, word) {
			unknown = append(unknown, word)
		}
	}
	return unknown
}

func TestWordThatIsNotChineseIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"应用 Blue Whale 的 client_id：ks-abc，见 https://a.example/b?c=d。": "",
		"订单号 *":                     "",
		`status`:                    "",
		`status is wrong`:           "status wrong",
		"用 OAuth 和 MCP 连接 /api/mcp": "",
		"The tool answered. 好":      "The tool answered",
		"配额 Limit":                  "Limit",
		"audit.keep 与 getOrder":     "",
		"group:组名 或 role:角色":        "",
		"group of 组":                "group",
	} {
		if got := strings.Join(unknownWords(text), " "); got != want {
			t.Errorf("of %q, %q is not Chinese, want %q", text, got, want)
		}
	}
}

// Each planted fault has to be found, and nothing else.
func TestFaultOfTheDesignIsFound(t *testing.T) {
	const sub = "uabcdefghijklmnopqrstuvwxy2"
	planted := map[string]string{
		"":                           `<a class="b" href="/">One</a> <details><summary>More</summary><a class="b" href="/">Two</a></details>`,
		"2 filled buttons":           `<a class="b" href="/">One</a> <button class="b">Two</button>`,
		"text of 11.0 px":            `<p style="font-size: 11px">small</p>`,
		"text of 5.0 px":             `<svg viewBox="0 0 400 40" width="200" height="20"><text y="20" font-size="10">x</text></svg>`,
		"an id does not stand small": `<p><code>` + sub + `</code></p>`,
		"an id is no code":           `<p>or20261127103603yqeibbronj</p>`,
		"an id has no button":        `<p class="named">Mina <small class="id"><code>` + sub + `</code></small></p>`,
		"an id has no name":          `<p class="named"><small class="id"><code>` + sub + `</code><button>Copy</button></small></p>`,
		"the page is":                `<div style="width: 3000px">x</div>`,
		"a text is cut":              `<p style="overflow: hidden; white-space: nowrap; width: 90px">a text that is much too long</p>`,
		"it scrolls sideways":        `<div style="overflow-x: auto"><p style="width: 3000px">x</p></div>`,
		"a table of 3000 px is":      `<div class="shadow" style="overflow-x: auto; width: 300px"><p style="width: 3000px">x</p></div>`,
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,"><style>
:root { --accent: #3447c4 } body { margin: 0 } p { margin: 0 } .b { background: var(--accent) } .id { font-size: 12px }
.id button { font-size: 12px } .id code { font-size: 1em } .shadow { background: linear-gradient(red, blue) }
</style><main>%s</main>`, planted[r.URL.Query().Get("fault")])
	}))
	defer site.Close()
	p := browser.Start(t)
	p.Look(1280, false)
	for fault := range planted {
		p.Open(site.URL + "/?fault=" + url.QueryEscape(fault))
		var m measured
		p.Ask(designScript, &m)
		if len(m.Faults) != min(len(fault), 1) || fault != "" && !strings.HasPrefix(m.Faults[0], fault) {
			t.Errorf("%q is planted, and found is %q", fault, m.Faults)
		}
	}
}
