package pages

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// A person who is asked for the second factor in the middle of a form goes on with the form as it was typed.
func TestFormGoesOnAfterTheSecondFactor(t *testing.T) {
	t.Parallel()
	b, all := browser.Launch(t), &looked{at: map[string]bool{}}
	for _, reads := range []reader{english, chinese} {
		for _, scripts := range []bool{true, false} {
			t.Run(reads.name, func(t *testing.T) {
				s := start(t, t.TempDir(), "--limits-per-ip", "100000")
				must(t, "user", "create", "--data", s.data, "--username", "ada", "--password", browserPassword, "--role", "admin")
				v := &walkthrough{t: t, b: b, s: s, reads: reads, looked: all}
				v.with(browser.Desktop)
				v.signsIn("ada")
				v.at("/console/apps/new")
				v.Type(`[name="name"]`, "Café & Söhne")
				v.Type(`[name="domains"]`, "cafe.example.com")

				phone := &walkthrough{t: t, b: b, s: s, reads: reads, looked: all}
				phone.with(browser.Phone)
				phone.signsIn("ada")
				phone.at("/oauth/account/factors/app")
				key, _ := phone.setsUp("app")

				v.Scripts(scripts)
				v.Follow("main form button")
				v.says("Confirm that it is you")
				if lead := v.Text(".lead"); lead != reads.lang.T("Changes need a sign-in of the last ten minutes. What you typed "+
					"is kept.") {
					t.Errorf("the page says %q", lead)
				}
				if facts := v.Text(".facts"); !strings.Contains(facts, "Café & Söhne") ||
					!strings.Contains(facts, "cafe.example.com") {
					t.Errorf("the page says that this is made: %q", facts)
				}
				v.look("factor-kept")
				v.Type("#code", appShows(t, key, 1))
				v.Follow("main form button")
				v.says("Your form goes on") // no script sends it
				what := map[string]string{english.name: "Make an application", chinese.name: "创建应用"}[reads.name]
				if got := v.Text("#about"); got != what {
					t.Errorf("the page says that this is done: %q, want %q", got, what)
				}
				v.look("goes-on")
				v.Follow("#on button")
				v.says("Café & Söhne")
				v.quiet("403")
			})
		}
	}
}
