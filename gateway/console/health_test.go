package console_test

import (
	"context"
	"encoding/json"
	"html"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/storage"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// healthOf returns the text of the health page, and the data of its JSON.
func healthOf(t *testing.T, lang string, edit func(*console.Config)) (text string, data map[string]any) {
	t.Helper()
	h := newFixture(t, edit)
	root := h.testUser("root", storage.RoleAdmin)
	w := h.open("/console/health?lang="+lang, root.cookie)
	a := h.want(h.do("GET", "/api/console/health", root.cookie, ""), 200, 1, "the health of the service")
	if w.Code != 200 || w.Body.Len() > 60<<10 {
		t.Fatalf("the health page is %d with %d bytes", w.Code, w.Body.Len())
	}
	return html.UnescapeString(tags.ReplaceAllString(w.Body.String(), " ")), a.body.Data
}

func TestHealthPageNamesTheStoreAndWhatCountsForAllNodes(t *testing.T) {
	away := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	server := func(s console.Server) func() console.Server { return func() console.Server { return s } }
	for name, c := range map[string]struct {
		stored, counters func() console.Server
		english, chinese []string
		store, counts    string // in JSON
		well             bool
		lacksEnglish     string
	}{
		"a database, and Redis": {
			stored:   server(console.Server{Kind: "PostgreSQL", Version: "15.18", At: "db:5432/keystile"}),
			counters: server(console.Server{Kind: "Redis", Version: "7.0.15", At: "redis:6379"}),
			english:  []string{"PostgreSQL 15.18 at db:5432/keystile", "Redis 7.0.15 at redis:6379, reachable"},
			chinese:  []string{"PostgreSQL 15.18，位于 db:5432/keystile", "Redis 7.0.15，位于 redis:6379，可连接"},
			store:    `{"at":"db:5432/keystile","bytes":0,"kind":"PostgreSQL","version":"15.18"}`,
			counts:   `{"at":"redis:6379","away_since":null,"kind":"Redis","reachable":true,"shared":true,"version":"7.0.15"}`, well: true,
		},
		"Redis is away": {
			counters: server(console.Server{Kind: "Redis", At: "redis:6379", Away: true, Since: away}),
			english: []string{"Redis at redis:6379, not reachable: each node keeps its share of " +
				"the limits; since 2 Jan 2026, 03:04 UTC", "shared counters not reachable needs attention"},
			chinese: []string{"无法连接，各节点按各自份额执行限制; 自 2026年1月2日 03:04 UTC", "共享计数器 无法连接"},
			store:   `null`, counts: `{"at":"redis:6379","away_since":"2026-01-02T03:04:05Z","kind":"Redis","reachable":false,"shared":true,"version":""}`,
		},
		"a file, and nobody else": {
			stored: server(console.Server{Kind: "bolt", Bytes: 1234567}), counters: server(console.Server{}),
			english: []string{"bolt, 1,234,567 bytes", "none: this node counts alone"},
			chinese: []string{"bolt，1,234,567 字节", "无：本节点独立计数"},
			store:   `{"at":"","bytes":1234567,"kind":"bolt","version":""}`, counts: `{"at":"","away_since":null,"kind":"","reachable":false,"shared":false,"version":""}`, well: true,
			lacksEnglish: "shared counters",
		},
		"an embedder that says nothing": {store: "null", counts: "null", well: true, lacksEnglish: "What it runs on"},
		"an adapter that says nothing": {stored: server(console.Server{}), store: "null", counts: "null", well: true,
			lacksEnglish: "What it runs on"},
		"a server that lies about itself": {
			stored: server(console.Server{Kind: hostile, At: strings.Repeat("x", 5000)}), store: `{"at":"` + strings.Repeat("x", 200) + `","bytes":0,"kind":"\u003cscript\u003ealert(1)\u003c/script\u003e","version":""}`,
			counts: "null", well: true, english: []string{hostile},
		},
	} {
		t.Run(name, func(t *testing.T) {
			edit := func(config *console.Config) {
				config.Stored, config.Counters = c.stored, c.counters
				config.Vitals = func(context.Context) []console.Vital {
					return []console.Vital{{Name: "fine", Value: "0", Well: true, Says: "what would be wrong"}}
				}
			}
			english, data := healthOf(t, "en", edit)
			chinese, _ := healthOf(t, "zh-CN", edit)
			english, chinese = strings.Join(strings.Fields(english), " "), strings.Join(strings.Fields(chinese), " ")
			for _, want := range c.english {
				if !strings.Contains(english, want) {
					t.Errorf("the page lacks %q: %s", want, english)
				}
			}
			for _, want := range c.chinese {
				if !strings.Contains(chinese, want) {
					t.Errorf("the page in Chinese lacks %q: %s", want, chinese)
				}
			}
			if c.lacksEnglish != "" && strings.Contains(english, c.lacksEnglish) {
				t.Errorf("the page has %q", c.lacksEnglish)
			}
			if all, err := json.Marshal(data["vitals"]); err != nil || !strings.Contains(string(all), `"fine"`) || strings.Contains(string(all), "what would be wrong") {
				t.Errorf("what is well is said to be %s", all)
			}
			for field, want := range map[string]string{"store": c.store, "counters": c.counts} {
				if got, err := json.Marshal(data[field]); err != nil || string(got) != want {
					t.Errorf("%s is %s, want %s", field, got, want)
				}
			}
			if data["well"] != c.well || data["version"] == "" || data["go"] != runtime.Version() {
				t.Errorf("it is well: %v, of version %v, with Go %v", data["well"], data["version"], data["go"])
			}
			for _, want := range []string{"Keystile " + data["version"].(string), "Go " + runtime.Version()} {
				if !strings.Contains(english, want) {
					t.Errorf("the page lacks %q: %s", want, english)
				}
			}
		})
	}
}
