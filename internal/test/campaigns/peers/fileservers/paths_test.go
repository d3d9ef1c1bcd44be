package fileservers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

// hostile are arguments that lead out of a folder for a server that decodes, normalises or spells
// as some do. None of them is ever sent.
var hostile = []string{
	// as they are
	".", "..", "../", "../secret", "../../secret", "../admin/secret", "report/../../secret", "sub/../../admin/secret",
	"./../secret", "sub/./../../secret",
	"../admin/", "../", "..//secret", "/../secret", "//../../secret", "report/..", "sub/.",
	// with the other slash
	`..\secret`, `..\..\secret`, `sub\..\..\secret`, `..\/secret`, `\..\secret`,
	// encoded by the caller, once and more
	"%2e%2e", "%2e%2e/secret", "..%2fsecret", "..%2Fadmin%2Fsecret", "%2e%2e%2fsecret", ".%2e/secret", "%2E./secret",
	"..%5csecret", "%2e%2e%5csecret",
	"%252e%252e%252fsecret", "..%252fsecret", "%252e%252e/secret", "..%255csecret",
	// with parameters, and what ends a path
	"..;/secret", "..;x=y/admin/secret", ".;/..;/secret", "%2e%2e%3b/secret", "..%3f/secret", "..?/../secret",
	"..#/secret",
	// cut off, or filled up
	"..\x00/secret", "..%00/secret", "..%2500/secret", "..\r\n/secret", "..\t/secret", "..%0a/secret", ".\n./secret",
	".. /secret", "..%20/secret", "..\u200b/secret", ".\u00ad./secret",
	// in the spellings that some decoders know
	"%u002e%u002e/secret", "..%u2215secret", "..%c0%afsecret", "%c0%ae%c0%ae/secret", "%e0%80%ae%e0%80%ae/secret",
	"..%f0%80%80%afsecret", "..%c1%9csecret", "..%ff/secret",
	"．．/secret", "．．／secret", "..／secret", "..＼secret", "‥/secret", "․․/secret", "..∕secret", "％2e％2e/secret",
	// nothing at all
	"", "/", "//", `\`, "%2f", "%252F",
}

// harmless are arguments that look alike and lead nowhere. They are sent.
var harmless = []string{"...", "..name", "....//secret", "sub/..name", "%", "%zz", "100%25", "~/secret",
	"http://127.0.0.1/secret", ".hidden", "secret", "..secret", "sub..", "a/b"}

var templates = []string{"/files/{a}", "/again/files/{a}", "/files/{a}/", "/files/sub/{a}", "/files/{a}.",
	"/files/.{a}", "/files/{a}{a}", "/files/sub;v=1{a}", "/files/sub%2F{a}", "/files/sub{a}/report"}

func TestPathArgumentsNeverLeaveTheFolderOfTheirTool(t *testing.T) {
	withEach(t, func(t *testing.T, u *upstream) {
		for _, template := range templates {
			for _, style := range []string{"", "label", "matrix"} {
				for _, reserved := range []bool{false, true} {
					p := toolplan.Param{Style: style, AllowReserved: reserved}
					for _, name := range hostile {
						values := []any{name}
						if template == templates[0] {
							values = append(values, []string{name}, []string{name, "b"}, map[string]string{"k": name},
								map[string]string{name: "v"})
						}
						for _, v := range values {
							r := u.call(t, tool(template, p, "a"), map[string]any{"a": v})
							if _, plain := v.(string); plain && (r.Dispatched || !r.IsError || !strings.Contains(textOf(r), `argument "a"`)) {
								t.Errorf("%s %s with %q is sent, or it is not said why not: %s", template, style, v, textOf(r))
							}
							u.wantNothing(t, r, template, v)
						}
					}
					for _, name := range harmless {
						r := u.call(t, tool(template, p, "a"), map[string]any{"a": name})
						if style == "" && !r.Dispatched {
							t.Errorf("%s %s with %q is not sent: %s", template, style, name, textOf(r))
						}
						u.wantNothing(t, r, template, name)
					}
				}
			}
		}
	})
}

func TestPathArgumentsNeverLeaveTheFolderTogether(t *testing.T) {
	withEach(t, func(t *testing.T, u *upstream) {
		for _, c := range []struct{ template, a, b string }{
			{"/files/{a}{b}", "x/.", "./secret"}, {"/files/{a}{b}", "x%2f.", ".%2fsecret"},
			{"/files/{a}{b}", "%2", "e%2e/secret"}, {"/files/{a}{b}", "x/%", "2e./secret"},
			{"/files/{a}{b}", "x/%c0", "%ae./secret"}, {"/files/{a}.{b}", "x/", "/secret"}, {"/files/{a}..{b}", "x/", "/secret"}, {"/files/{a}%2e{b}", "x/", "./secret"}, {"/files/{a}%2E.{b}", `x\`, `\secret`},
		} {
			r := u.call(t, tool(c.template, toolplan.Param{}, "a", "b"), map[string]any{"a": c.a, "b": c.b})
			if r.Dispatched {
				t.Errorf("%s with %q and %q is sent", c.template, c.a, c.b)
			}
			u.wantNothing(t, r, c.template, c)
		}
	})
}

func TestPathArgumentsReachWhatATemplateIsFor(t *testing.T) {
	withEach(t, func(t *testing.T, u *upstream) {
		for _, reserved := range []bool{false, true} {
			for _, name := range []string{"report", "sub/report", "a b+c.txt", "..name"} {
				r := u.call(t, tool("/files/{a}", toolplan.Param{AllowReserved: reserved}, "a"), map[string]any{"a": name})
				if r.IsError || !strings.Contains(textOf(r), inside) {
					t.Errorf("%q gives %d %q, want the file", name, r.Status, textOf(r))
				}
			}
		}
		// The files that the arguments above must not get are there for their own tools.
		if r := u.call(t, tool("/admin/{a}", toolplan.Param{}, "a"),
			map[string]any{"a": "secret"}); !strings.Contains(textOf(r), outside) {
			t.Errorf("/admin/secret gives %q, want the secret: the test proves nothing", textOf(r))
		}
	})
}

// GitLab and its like take group%2Fproject for one segment.
func TestSlashInAPathArgumentStaysEncoded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte(r.URL.EscapedPath()))
	}))
	t.Cleanup(s.Close)
	u := &upstream{invoker(t), s.Listener.Addr().String()}
	for reserved, want := range map[bool]string{false: "/projects/group%2Fsub%2Fproject/issues",
		true: "/projects/group/sub/project/issues"} {
		r := u.call(t, tool("/projects/{a}/issues", toolplan.Param{AllowReserved: reserved}, "a"),
			map[string]any{"a": "group/sub/project"})
		if got := textOf(r); got != want {
			t.Errorf("with allowReserved %t the path is %s, want %s", reserved, got, want)
		}
	}
}
