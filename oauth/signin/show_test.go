package signin

import (
	"net/http"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/newpassword"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

const showScript = `<script src="/oauth/signin/show.js" data-label="Show password" defer></script>`

// Where a password is typed it can be looked at, by a file of ours alone; the page itself holds no button
// for it, which would do nothing without a script.
func TestFieldOfAPasswordCanShowIt(t *testing.T) {
	inTime(t, SignUpOpen, func(t *testing.T, h *fullFixture) {
		b := h.browser()
		b.requestCode(t, otp.ResetFlow, minas)
		for name, c := range map[string]struct {
			a      answer
			fields int
		}{
			"sign-in":         {h.do(get(web.FormPath)), 1},
			"a wrong one":     {h.do(post("username", "mina", "password", "wrong")), 1},
			"sign-up":         {b.get(signup.Path), 1},
			"a forgotten one": {b.get(otp.ResetFlow.CodePath()), 1},
			"a new one":       {h.do(get(newpassword.Path, h.enterMina())), 2},
		} {
			passkeys := strings.Contains(c.a.body, `id="passkey"`) // whose script asks for a challenge
			fields := strings.Count(c.a.body, `<div class="secret"><input `)
			if fields != c.fields || strings.Count(c.a.body, `type="password"`) != fields || strings.Count(c.a.body, showScript) != 1 || strings.Contains(c.a.body, `aria-pressed="`) {
				t.Errorf("%s: %d fields in %s", name, fields, c.a.body)
			}
			if p := c.a.policy(); !strings.Contains(p, "; script-src 'self';") ||
				strings.Contains(p, "connect-src") != passkeys || !strings.Contains(p, "require-trusted-types-for 'script'") {
				t.Errorf("%s: policy %s", name, p)
			}
		}
		codes := h.browser()
		codes.requestCode(t, otp.SignInFlow, "new@example.com")
		for name, a := range map[string]answer{"a code": codes.get(otp.SignInFlow.CodePath())} {
			if strings.Contains(a.body, "<script") || strings.Contains(a.policy(), "script-src") {
				t.Errorf("%s runs a script without a password: %s", name, a.policy())
			}
		}
		if a := h.do(get("/oauth/signin/show.js")); a.Code != http.StatusOK ||
			a.Header().Get("Content-Type") != "text/javascript; charset=utf-8" || a.Header().Get("ETag") == "" {
			t.Errorf("the script = %d %v", a.Code, a.Header())
		}
	})
}
