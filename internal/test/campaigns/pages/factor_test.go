package pages

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// appShows returns what an authenticator app with a key shows, some steps from now (RFC 6238).
func appShows(t *testing.T, key string, steps int64) string {
	t.Helper()
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ReplaceAll(key, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, raw)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()/30+steps)))
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0x0f
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:])&0x7fffffff%1_000_000)
}

// People set up an authenticator app, sign in with it and with a recovery code, are reminded of it and have to.
func TestSecondFactorIsSetUpAndUsed(t *testing.T) {
	t.Parallel()
	b, all := browser.Launch(t), &looked{at: map[string]bool{}}
	for _, reads := range []reader{english, chinese} {
		s := start(t, t.TempDir(), "--mfa-auditor", "required", "--limits-per-ip", "100000")
		for i, device := range []browser.Device{browser.Desktop, browser.Phone} {
			t.Run(reads.name+" "+device.Name, func(t *testing.T) {
				v := &walkthrough{t: t, b: b, s: s, reads: reads, looked: all}
				v.with(device)
				v.secondFactor(fmt.Sprint("ada", i), fmt.Sprint("aud", i))
				v.quiet("400", "401")
			})
		}
	}
	t.Run("without a script", func(t *testing.T) {
		v := &walkthrough{t: t, b: b, s: start(t, t.TempDir(), "--mfa-auditor", "required"), reads: english, looked: all}
		v.with(browser.Desktop)
		v.Scripts(false)
		v.secondFactor("ada", "aud")
	})
}

const browserPassword = "correct horse battery"

// signsIn does the first step.
func (v *walkthrough) signsIn(name string) {
	v.t.Helper()
	v.Forget()
	v.at("/oauth/signin")
	v.Type("#username", name)
	v.Type("#password", browserPassword)
	v.Follow("form button[type=submit]")
}

func (v *walkthrough) secondFactor(user, auditor string) {
	v.t.Helper()
	must(v.t, "user", "create", "--data", v.s.data, "--username", user, "--password", browserPassword)
	must(v.t, "user", "create", "--data", v.s.data, "--username", auditor, "--password", browserPassword, "--role",
		"auditor")
	v.signsIn(user)
	v.at("/oauth/account")
	v.Follow(`a[href="/oauth/account/factors"]`)
	v.says("Two-step sign-in")
	v.look("factors-none")
	v.Follow(`a[href="/oauth/account/factors/app"]`)
	key, codes := v.setsUp("app")
	v.Follow("a.button")
	v.says("Two-step sign-in")
	v.look("factors")

	v.signsIn(user)
	v.says("Confirm that it is you")
	v.look("factor")
	v.Type("#code", "000000")
	v.Follow("form button[type=submit]")
	v.says("Confirm that it is you")
	v.look("factor-wrong")
	v.Type("#code", appShows(v.t, key, 1))
	v.Follow("form button[type=submit]")
	v.says("You are signed in")

	v.signsIn(user)
	v.Click("summary")
	v.Type("#recovery", strings.ToLower(codes[0]))
	v.Follow("details button[type=submit]")
	v.says("You are signed in")
	v.at("/oauth/account/factors")
	v.Follow(`form[action="/oauth/account/factors/codes"] button`)
	v.says("Your recovery codes")
	v.at("/oauth/account/factors")
	v.Follow(`form[action="/oauth/account/factors/app/remove"] button`)
	v.says("Two-step sign-in")

	v.signsIn(auditor)
	v.says("Set up a second factor")
	v.look("remind")
	v.Follow("form button[type=submit]")
	v.says("You are signed in")
	v.at("/oauth/account")
	v.look("account-due")
	v.at("/oauth/account/factors")
	v.look("factors-due")
	v.signsIn(auditor)
	v.Follow("a.button")
	v.setsUp("enrol")
	v.Follow("a.button")
	v.says("You are signed in")
}

// setsUp sets up an app on a page, and returns its key and the recovery codes.
func (v *walkthrough) setsUp(page string) (key string, codes []string) {
	v.t.Helper()
	v.says("Set up an authenticator app")
	v.look("factor-" + page)
	v.Type("#code", "000000")
	v.Follow("form button[type=submit]")
	v.says("Set up an authenticator app")
	v.look("factor-" + page + "-wrong")
	key = v.Text("code.key")
	v.Type("#code", appShows(v.t, key, 0))
	v.Follow("form button[type=submit]")
	v.says("Your recovery codes")
	v.look("codes-" + page)
	if codes = strings.Fields(v.Text(".codes")); len(codes) != 10 {
		v.t.Fatalf("the page shows %d codes: %q", len(codes), codes)
	}
	return key, codes
}
