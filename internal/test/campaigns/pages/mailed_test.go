package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mailed is the code in the mail that the service has just been asked for: the newest file
// in the folder of mails, which has to be to this address.
func (v *walkthrough) mailed(to string) (code string) {
	v.t.Helper()
	v.mails++
	return v.s.mailed(v.t, v.mails, to)
}

// mailed waits until so many mails have been sent, and returns the code in the newest.
func (s *service) mailed(t *testing.T, mails int, to string) (code string) {
	t.Helper()
	s.log.Find(t, s.ended, fmt.Sprintf("(?s)(a mail is done with.*){%d}", mails))
	folder := filepath.Join(s.data, "mail")
	entries, err := os.ReadDir(folder) // sorted by name, which is by time
	if err != nil || len(entries) == 0 {
		t.Fatalf("no mail has come: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(folder, entries[len(entries)-1].Name()))
	if err != nil || !strings.Contains(string(text), "\nTo: "+to+"\n") {
		t.Fatalf("the newest mail is not to %s: %s %v", to, text, err)
	}
	_, body, _ := strings.Cut(string(text), "\n\n")
	return mailedCode.FindString(body)
}

// members looks at the pages on which people sign in by mail, sign up and set passwords. In
// the end they are signed out.
func (v *walkthrough) members() {
	v.t.Helper()
	at := v.s.base + "/oauth/signin"
	v.Open(at + "/email")
	v.look("email")
	v.Type("#address", "mina@example")
	v.Follow("form [type=submit]")
	v.says("Sign in with email")
	v.look("email-wrong")
	v.begin() // so that the pages have a way back to the application
	v.Follow(`a[href^="/oauth/signin/email"]`)
	v.Type("#address", "mina@example.org")
	v.Follow("form [type=submit]")
	v.says("Type in the code")
	v.look("email-code")
	code := v.mailed("mina@example.org")
	v.Type("#code", wrongOf(code))
	v.Follow("form [type=submit]")
	v.says("Type in the code")
	v.look("email-code-wrong")
	v.Type("#code", code)
	v.Follow("form [type=submit]")
	v.says("Allow %s?", appName)
	v.Open(at + "/email/code")
	v.says("This code has ended")
	v.look("email-ended")
	v.Forget()

	v.Open(at + "/signup")
	v.says("Create an account")
	v.look("signup")
	v.Type("#username", "mina")
	v.Type("#password", "password1")
	v.Follow("form [type=submit]")
	v.says("Create an account")
	v.look("signup-wrong")
	v.Forget()
	v.passwords()
}

// wrongOf is another code.
func wrongOf(code string) string { return string('0'+('9'-code[0])) + code[1:] }

func (v *walkthrough) passwords() {
	v.t.Helper()
	at := v.s.base + "/oauth/signin"
	who := firstRunOf(v.t, v.s.data).Admin
	must(v.t, "user", "set", "--data", v.s.data, who.Username, "--email", "admin@example.org", "--email-verified")
	v.Open(at)
	v.Follow(`a[href^="/oauth/signin/reset"]`)
	v.says("Set a new password")
	v.look("reset")
	v.Type("#address", "admin@example.org")
	v.Follow("form [type=submit]")
	v.look("reset-code")
	v.Type("#code", v.mailed("admin@example.org"))
	v.Type("#password", "correct horse battery")
	v.Follow("form [type=submit]")
	v.says("You are signed in")
	v.mails++ // that the password has changed

	v.Open(at + "/password")
	v.says("Change your password")
	v.look("password")
	v.Type("#current", "not this one")
	v.Type("#password", who.Password)
	v.Follow("form [type=submit]")
	v.look("password-wrong")
	v.Type("#current", "correct horse battery")
	v.Type("#password", who.Password)
	v.Follow("form [type=submit]")
	v.says("Your password is changed")
	v.look("changed")
	v.mails++

	v.Open(at + "/address")
	v.says("Confirm an email address")
	v.look("address")
	v.Forget()
}
