package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// Somebody else may send a form from a console that was left open. The administrator who comes back reads what it would
// do, to whom, before they prove who they are and before they send it, and no script sends it for them.
func TestFormOfAConsoleThatWasLeftOpenSaysWhatItDoes(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		form url.Values
		says []string
		zh   []string
	}{
		"a user": {
			"/console/users/new", url.Values{"do": {"create"}, "username": {"mallory"}, "password": {"hunter2-hunter2"},
				"role": {"admin"}, "nickname": {""}},
			[]string{"Create a user", "<dd>mallory</dd>", "<dt>role</dt><dd>admin</dd>"},
			[]string{"创建用户", "<dt>角色</dt><dd>admin</dd>"},
		},
		"a role": {
			"/console/users/{sub}", url.Values{"do": {"role"}, "role": {"admin"}},
			[]string{"Change the role of a user", "<dd>guest (", "<dd>admin</dd>"}, []string{"更改用户的角色", "<dd>guest ("},
		},
		"where users are sent": {
			"/console/apps/new", url.Values{"do": {"new"}, "name": {"Evil"}, "domains": {"evil.example.com"}},
			[]string{"Make an application", "<dd>Evil</dd>", "<dd>evil.example.com</dd>"},
			[]string{"创建应用", "<dt>域名</dt><dd>evil.example.com</dd>"},
		},
	} {
		for lang, says := range map[string][]string{"en": c.says, "zh-CN": c.zh} {
			t.Run(name+" "+lang, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(t)
					root := s.who["admin"]
					p := s.person(root.cookie)
					path := strings.ReplaceAll(c.path, "{sub}", s.who["guest"].Sub)
					_, _, page := p.gets(path)
					s.enrols(root.Sub)
					s.aged(root.cookie)
					v := must(s.store.Session(t.Context(), handle.Hash(strings.TrimPrefix(root.cookie, "open_sso_token="))))(t)
					v.AMR = "pwd otp mfa" // and has proved it
					must(s.store.SaveSession(t.Context(), v))(t)
					in := func(method, path, body string) (code int, to, page string) {
						r := must(http.NewRequest(method, base+path, strings.NewReader(body)))(t)
						r.Header.Set("Content-Type", urlencoded)
						r.Header.Set("Accept-Language", lang)
						return p.opens(r)
					}
					form := url.Values{"form": {idOn(page)}}
					for field, values := range c.form {
						form[field] = values
					}
					code, _, asks := in("POST", path, form.Encode())
					_, query, _ := strings.Cut(asks, `name="query" value="`)
					query, _, _ = strings.Cut(query, `"`)
					query = strings.ReplaceAll(query, "&amp;", "&")
					_, _, _ = in("POST", "/oauth/signin", url.Values{"username": {"admin"}, "password": {password},
						"query": {query}}.Encode())
					_, _, asksFactor := in("GET", "/oauth/signin/factor", "")
					_, to, _ := in("POST", "/oauth/signin/factor", url.Values{"code": {shows()}}.Encode())
					_, _, goesOn := in("GET", to, "")
					for which, page := range map[string]string{"that asks for all": asks, "that asks for the factor": asksFactor,
						"from which it goes on": goesOn} {
						for _, want := range says {
							if !strings.Contains(page, want) {
								t.Errorf("the page %s (%d) lacks %q: %s", which, code, want, page)
							}
						}
						if strings.Contains(page, "hunter2") {
							t.Errorf("the page %s shows a secret", which)
						}
					}
					if !strings.Contains(goesOn, `id="on"`) || strings.Contains(goesOn, "<script") {
						t.Errorf("it is not its user who sends it: %s", goesOn)
					}
					if _, err := s.store.Login(t.Context(), storage.LoginSelf, "mallory"); err == nil {
						t.Error("it is done already")
					}
					must(0, s.signIn.Close(t.Context()))(t)
				})
			})
		}
	}
}
