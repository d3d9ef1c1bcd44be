package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/filled"
)

// mistake is a form with something wrong in it.
type mistake struct {
	name, path string
	typed      [][2]string // fields and what is typed into them
	send       string      // the button
	wrong      string      // the field that is to be mended
}

// mistakes are those that people make.
func mistakes(upstream string) []mistake {
	const capability, preview = "/console/capabilities/new", "button[value=preview]"
	return []mistake{
		{"a wrong domain", "/console/apps/new", [][2]string{{"name", "Corner shop"}, {"domains", "bad domain !"}},
			"main form button", "domains"},
		{"a redirect_uri elsewhere", "/console/apps/new", [][2]string{{"name", "Corner shop"},
			{"domains", "corner.example"}, {"redirect_uris", "nowhere"}}, "main form button", "redirect_uris"},
		{"a name that is taken", "/console/users/new", [][2]string{{"username", "admin"}, {"nickname", "Mina"},
			{"password", "correct horse battery"}}, "main form button", "username"},
		{"a name that is refused", capability, [][2]string{{"document", filled.Bookshop}, {"member", "Corner shop!"},
			{"upstream_url", upstream}}, preview, "member"},
		{"no document", capability, [][2]string{{"member", "corner"}, {"upstream_url", upstream}}, preview, "file"},
		{"a broken document", capability, [][2]string{{"document", `{"openapi":`}, {"member", "corner"},
			{"upstream_url", upstream}}, preview, "document"},
		{"an upstream that is no address", capability, [][2]string{{"document", filled.Bookshop}, {"member", "corner"},
			{"upstream_url", "corner"}}, preview, "upstream_url"},
		{"an application that is not there", "/console/tiers", [][2]string{{"client_id", "nothing like it"}},
			"main form button", "client_id"},
		{"nobody of that name", "/console/access/bookshop", [][2]string{{"user", "nobody"}}, "main form.whom button.primary",
			"user"},
	}
}

// keeps makes sure that the fields of a page hold what was typed, all but the passwords.
func (v *walkthrough) keeps(when string, typed [][2]string) {
	v.t.Helper()
	for _, f := range typed {
		var got string
		v.Ask(fmt.Sprintf(`document.querySelector('main [name="%s"]')?.value ?? "no such field"`, f[0]), &got)
		if f[0] == "document" && v.Count("main form [name=kept]") > 0 {
			continue // the service keeps it, and the form names it
		}
		if f[0] != "password" && got != f[1] {
			v.t.Errorf("%s: the field %s holds %q, and %q was typed", when, f[0], got, f[1])
		}
	}
}

// types fills in a form. The browser sends it even if it would refuse it by itself, as other browsers do.
func (v *walkthrough) types(typed [][2]string) {
	v.t.Helper()
	for _, f := range typed {
		v.Type(`main [name="`+f[0]+`"]`, f[1])
	}
	v.Ask(`document.querySelectorAll("form").forEach((f) => { f.noValidate = true; }), 0`, new(int))
}

func TestFieldThatIsWrongIsMarkedAndNothingTypedIsLost(t *testing.T) {
	t.Parallel()
	each(t, []reader{english, chinese}, func(v *walkthrough) {
		f := used(v.t, func(text string) string { return text })
		v.s = f.service
		v.operator()
		for _, m := range mistakes(f.upstream) {
			v.at(m.path)
			v.types(m.typed)
			v.Follow(m.send)
			v.keeps(m.name, m.typed)
			var says string
			v.Ask(fmt.Sprintf(`(() => {
				const all = [...document.querySelectorAll("main [aria-invalid=true]")];
				if (all.length !== 1 || all[0].name !== %q) return "marked: " + all.map((e) => e.name);
				return document.getElementById(all[0].getAttribute("aria-describedby"))?.innerText ?? "no text";
			})()`, m.wrong), &says)
			if v.Count("main .alert") != 1 || says != v.Text("main .alert") || says == "" {
				v.t.Errorf("%s: the field %s is told of as %q", m.name, m.wrong, says)
			}
			v.look("mistake-" + strings.ReplaceAll(m.name, " ", "-"))
			if method := v.Reload(); method != http.MethodGet {
				v.t.Errorf("%s: loading the answer again sends a %s", m.name, method)
			}
		}
		v.quiet("400", "404", "409", "422")
	})
}

// ages makes a service of which everybody has signed in too long ago for a change.
func (v *walkthrough) ages(args ...string) {
	v.t.Helper()
	v.s.stop()
	s, release := filled.Open(v.t, v.s.data)
	everybody, _, err := s.Users(v.t.Context(), "", 100)
	fatal(v.t, err)
	for _, user := range everybody {
		sessions, err := s.Sessions(v.t.Context(), user.Sub)
		fatal(v.t, err)
		for _, one := range sessions {
			one.AuthTime = time.Now().Add(-11 * time.Minute)
			_, err := s.SaveSession(v.t.Context(), one)
			fatal(v.t, err)
		}
	}
	release()
	v.s = start(v.t, v.s.data, append(args, "--listen", v.s.address)...)
}

func TestSignInThatIsTooOldLosesNothingTyped(t *testing.T) {
	t.Parallel()
	v := alone(t)
	f := used(t, func(text string) string { return text })
	v.s = f.service
	v.operator()
	for _, form := range []struct {
		path  string
		typed [][2]string
		send  string
		then  string   // what is followed in the end; "": nothing
		want  []string // on the page after that
	}{
		{"/console/apps/new", [][2]string{{"name", "Corner shop"}, {"domains", "corner.example"}}, "main form button",
			`main a[href^="/console/apps/ks"]`, []string{"Corner shop", "corner.example"}},
		{"/console/users/new", [][2]string{{"username", "ada"}, {"nickname", "Countess"},
			{"password", "correct horse battery"}}, "main form button", "", []string{"ada", "Countess"}},
		{"/console/capabilities/new", [][2]string{{"document", filled.Bookshop}, {"member", "corner"},
			{"upstream_url", f.upstream}}, "button[value=register]", "", []string{"placeOrder", "getOrder"}},
		{"/console/access/bookshop", [][2]string{{"user", "mina"}}, "main form.whom button.primary", "",
			[]string{"mina"}},
		{"/console/capabilities/bookshop/tools/getOrder", [][2]string{{"a.0", "17"}}, "main form button",
			"", []string{"The tool answered.", "9780141439518"}},
	} {
		v.at(form.path)
		v.ages(usedArgs...)
		v.types(form.typed)
		v.Follow(form.send)
		v.says("Confirm that it is you")
		for _, typed := range form.typed {
			if kept := v.Text("main"); len(typed[1]) < 40 && typed[0] != "password" && !strings.Contains(kept, typed[1]) {
				t.Errorf("%s: the page that asks for the password does not say %q: %s", form.path, typed[1], kept)
			}
		}
		v.Type("#password", firstRunOf(t, v.s.data).Admin.Password)
		v.Follow("main form button[type=submit]")
		v.says("Your form goes on")
		v.Follow("#on button")
		if v.Count("main .alert") > 0 {
			t.Errorf("%s: what was typed is refused: %s", form.path, v.Text("main .alert"))
		}
		if form.then != "" {
			v.Follow(form.then)
		}
		for _, want := range form.want {
			if got := v.Text("main"); !strings.Contains(got, want) {
				t.Errorf("%s: what was typed ends at %s, without %q: %s", form.path, v.URL(), want, got)
			}
		}
		if method := v.Reload(); method != http.MethodGet {
			t.Errorf("%s: loading the end again sends a %s", form.path, method)
		}
	}
	v.quiet("403")
}
