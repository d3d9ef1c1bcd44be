package command

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const userPassword = "correct horse battery"

// The configuration says by role which users need a second factor, and since when.
func TestConfigurationSaysWhoNeedsASecondFactor(t *testing.T) {
	const at, added, due = "/oauth/signin", "/oauth/signin/factor/new", "/oauth/signin/factor/due"
	for args, want := range map[string]map[string]string{
		"--mfa-default required --mfa-admin off --mfa-developer offered --mfa-auditor required --mfa-grace " +
			"0": {"none": added, "admin": at, "developer": at, "auditor": added},
		"--mfa-default off --mfa-admin required --mfa-developer required --mfa-auditor off --mfa-grace " +
			"1h": {"none": at, "admin": due, "developer": due, "auditor": at},
	} {
		s := start(t, t.TempDir(), strings.Fields(args)...)
		for role, to := range want {
			create := []string{"user", "create", "--data", s.data, "--username", "a-" + role, "--password", userPassword}
			if role != "none" {
				create = append(create, "--role", role)
			}
			must(t, create...)
			form := url.Values{"username": {"a-" + role}, "password": {userPassword}}
			r, err := http.NewRequest("POST", s.base+at, strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if got := answer.Header.Get("Location"); answer.StatusCode != 303 || got != to {
				t.Errorf("%s: of the role %s a sign-in = %d to %q, want %q", args, role, answer.StatusCode, got, to)
			}
		}
	}
}
