package command

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mailServer is an SMTP server of somebody else's that wants a password, and what it got.
func mailServer(t *testing.T) (port string, next func() string) {
	t.Helper()
	const python, script = "/usr/bin/python3", "../../../oauth/signin/mailer/testdata/smtpd.py"
	if err := exec.Command(python, "-c", "import aiosmtpd").Run(); err != nil {
		t.Skip("there is no SMTP server to send to: install python3-aiosmtpd")
	}
	cmd := exec.Command(python, script, "--user", "keystile", "--password", "mail secret")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	next = func() string {
		if !lines.Scan() {
			t.Fatal("the server has ended")
		}
		return lines.Text()
	}
	return next(), next
}

// person is a browser that keeps cookies and follows nothing.
func person(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

func fill(t *testing.T, c *http.Client, to string, want int, pairs ...string) string {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	resp, err := c.PostForm(to, form)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != want {
		t.Fatalf("POST %s = %d, want %d", to, resp.StatusCode, want)
	}
	return resp.Header.Get("Location")
}

var mailedCode = regexp.MustCompile(`\b\d{6}\b`)

// From the key of the configuration to the session: every key of mail.smtp is needed for
// the code to arrive.
func TestMailsGoWhereTheConfigurationSays(t *testing.T) {
	t.Parallel()
	port, next := mailServer(t)
	file := filepath.Join(t.TempDir(), "keystile.yaml")
	text := "signup: open\nmail:\n  smtp:\n    host: localhost\n    port: " + port +
		"\n    tls: none\n    username: keystile\n    password: mail secret\n    from: Keystile <id@example.com>\n" +
		"    timeout: 20s\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, t.TempDir(), "--config", file)
	c := person(t)
	at := s.base + "/oauth/signin/email"
	if to := fill(t, c, at, 303, "address", "Ada@example.org"); to != "/oauth/signin/email/code" {
		t.Fatalf("asking for a code leads to %q", to)
	}
	var mail struct {
		From, User, Content string
		To                  []string
	}
	if err := json.Unmarshal([]byte(next()), &mail); err != nil {
		t.Fatal(err)
	}
	if mail.From != "id@example.com" || mail.User != "keystile" || strings.Join(mail.To, ",") != "ada@example.org" {
		t.Errorf("the server was told %+v", mail)
	}
	_, body, _ := strings.Cut(mail.Content, "\r\n\r\n")
	fill(t, c, at+"/code", 303, "code", mailedCode.FindString(body))
	if _, page := get(t, c, s.base+"/oauth/signin"); !strings.Contains(page, "You are signed in") {
		t.Errorf("the page is %s", page)
	}
	if _, err := os.Stat(filepath.Join(s.data, "mail")); !os.IsNotExist(err) {
		t.Errorf("there is a folder of mails as well: %v", err)
	}
	if strings.Contains(s.log.String(), "mail secret") || strings.Contains(s.log.String(), mailedCode.FindString(body)) {
		t.Error("the log holds a secret")
	}
}

func TestMailerWritesFilesWhileTriedOut(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--signup", "open")
	folder := filepath.Join(s.data, "mail")
	if said := s.log.String(); !strings.Contains(said, "mails are written to files") || !strings.Contains(said, folder) {
		t.Errorf("the log does not say where: %s", said)
	}
	c := person(t)
	fill(t, c, s.base+"/oauth/signin/email", 303, "address", "ada@example.org")
	if code := s.stop(); code != 0 { // which waits for the mail
		t.Fatalf("it ended with %d", code)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	text, err := os.ReadFile(filepath.Join(folder, entries[0].Name()))
	if err != nil || !strings.Contains(string(text), "To: ada@example.org\n") || !mailedCode.Match(text) {
		t.Errorf("the mail is %s, %v", text, err)
	}
}

func TestMailsAreNotSentWithoutServerAndDemo(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--demo", "false")
	if resp, _ := get(t, http.DefaultClient, s.base+"/oauth/signin/email"); resp.StatusCode != 404 {
		t.Errorf("sign-in by mail = %d, want 404", resp.StatusCode)
	}
	if _, page := get(t, http.DefaultClient, s.base+"/oauth/signin"); strings.Contains(page, "email") {
		t.Errorf("the page offers it: %s", page)
	}
}

// The whole life of a member: invited, signed up, with a new password, signed out by it.
func TestInvitedUserSignsUp(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--signup", "invitation")
	made := must(t, "user", "invite", "--data", s.data, "--role", "developer", "--days", "3")
	code, _ := made["invitation"].(string)
	if len(code) != 29 || made["role"] != "developer" {
		t.Fatalf("user invite printed %v", made)
	}
	c := person(t)
	at := s.base + "/oauth/signin"
	fill(t, c, at+"/signup", 401, "username", "ada", "password", "battery staple", "invitation", "AAAA")
	fill(t, c, at+"/signup", 303, "username", "ada", "password", "battery staple", "invitation", code)
	other := person(t)
	fill(t, other, at, 303, "username", "ada", "password", "battery staple")
	fill(t, c, at+"/password", 303, "current", "battery staple", "password", "horse battery staple")
	if _, page := get(t, c, at); !strings.Contains(page, "You are signed in") {
		t.Error("who has changed the password is signed out")
	}
	if _, page := get(t, other, at); strings.Contains(page, "You are signed in") {
		t.Error("the other browser is signed in still")
	}
	fill(t, other, at, 401, "username", "ada", "password", "battery staple")
	if out := must(t, "user", "set", "--data", s.data, "ada", "--email", "Ada@example.org",
		"--email-verified"); out["email"] != "ada@example.org" || out["role"] != "developer" {
		t.Errorf("user set printed %v", out)
	}
	if strings.Contains(s.log.String(), code) {
		t.Error("the log holds the invitation")
	}
}

func TestMailThatTakesTooLongIsGivenUp(t *testing.T) {
	t.Parallel()
	at, err := net.Listen("tcp", "127.0.0.1:0") // and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	_, port, _ := net.SplitHostPort(at.Addr().String())
	s := start(t, t.TempDir(), "--signup", "open", "--mail-smtp-host", "127.0.0.1", "--mail-smtp-port", port,
		"--mail-smtp-from", "id@example.com", "--mail-smtp-timeout", "10ms")
	fill(t, person(t), s.base+"/oauth/signin/email", 303, "address", "ada@example.org")
	s.log.Find(t, s.ended, `a mail was not sent.*(deadline exceeded|i/o timeout)`)
}

// An act of an operator on a user's application reaches the user's mailbox.
func TestOwnerIsMailedWhatACommandDid(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir())
	must(t, "user", "create", "--data", s.data, "--username", "ada", "--password", "correct horse 7")
	must(t, "user", "set", "--data", s.data, "ada", "--email", "ada@example.org", "--email-verified")
	app := must(t, "app", "create", "--data", s.data, "--name", "Shop", "--domain", "shop.example", "--owner", "ada")
	rotated := must(t, "app", "rotate-secret", "--data", s.data, app["client_id"].(string))
	if code := s.stop(); code != 0 { // which waits for the mail
		t.Fatalf("it ended with %d", code)
	}
	mails, err := filepath.Glob(filepath.Join(s.data, "mail", "*"))
	if err != nil || len(mails) != 2 {
		t.Fatal(mails, err)
	}
	var text []byte
	for _, name := range mails {
		one, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(one), "To: ada@example.org\n") || !strings.Contains(string(one), "Shop") {
			t.Errorf("a mail is %s, %v", one, err)
		}
		text = append(text, one...)
	}
	for _, want := range []string{"by the operator: application made, its secret shown",
		"by the operator: secret rotated"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the mails lack %q: %s", want, text)
		}
	}
	if strings.Contains(string(text), rotated["client_secret"].(string)) || strings.Contains(string(text), "unknown") {
		t.Errorf("the mail says more than it should: %s", text)
	}
}
