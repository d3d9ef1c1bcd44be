package signin

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/apikeys"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// Somebody else may have filled in a form, in a browser that its user has left. So each page on the way says what it
// does, in the language of its user and without its secrets, and no script sends it.
func TestKeptFormSaysWhatItDoesAndIsSentByItsUser(t *testing.T) {
	for _, c := range []struct {
		lang, path string
		fields     []string
		says       []string
	}{
		{"en", apikeys.Path, []string{"name", "mallory's", "what", "all", "days", "365"},
			[]string{"Make an API key", "<dd>mallory&#39;s</dd>", "<dd>365</dd>"}},
		{"zh-CN", apikeys.Path, []string{"name", "mallory", "what", "all", "days", "365"},
			[]string{"创建 API 密钥", "<dt>名称</dt><dd>mallory</dd>"}},
		{"en", otp.LinkFlow.Path, []string{"address", "mallory@example.com"},
			[]string{"Confirm an email address", "<dd>mallory@example.com</dd>"}},
		{"en", newpassword.Path, []string{"current", password, "password", better},
			[]string{"Change your password", "<dd>(not shown)</dd>"}},
	} {
		t.Run(c.path+" "+c.lang, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newAttacked(t)
				w.both(w.b)
				time.Sleep(stepup.MaxAge + time.Second)
				open := func(r *http.Request) answer {
					r.Header.Set("Accept-Language", c.lang)
					return w.b.do(r)
				}
				pages := map[string]answer{}
				pages["for all"] = open(sends(c.path, c.fields...))
				query := pages["for all"].carried()
				open(sends(web.FormPath, "username", "mina", "password", password, "query", query))
				pages["for the factor"] = open(get(factor.Path))
				to := open(sends(factor.Path, "code", w.shows(0))).Header().Get("Location")
				pages["from which it goes on"] = open(get(to))
				for name, page := range pages {
					for _, want := range c.says {
						if !strings.Contains(page.body, want) {
							t.Errorf("the page %s lacks %q: %s", name, want, page.body)
						}
					}
					if strings.Contains(page.body, password) || strings.Contains(page.body, better) {
						t.Errorf("the page %s shows a secret", name)
					}
				}
				if page := pages["from which it goes on"]; strings.Contains(page.body, "<script") ||
					strings.Contains(page.policy(), "script-src") {
					t.Errorf("a script may send it: %s", page.body)
				}
				must(t, w.Close(t.Context()))
			})
		})
	}
}
