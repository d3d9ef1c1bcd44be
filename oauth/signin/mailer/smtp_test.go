package mailer

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

// server is an SMTP server of somebody else's, see testdata/smtpd.py.
type server struct {
	port  int
	roots *x509.CertPool
	log   *bufio.Scanner
}

// received is a mail as the server has it.
type received struct {
	From    string
	To      []string
	TLS     bool
	User    string
	Content string
}

func serve(t *testing.T, args ...string) *server {
	t.Helper()
	const python = "/usr/bin/python3" // Debian's own, which its package is for
	if err := exec.Command(python, "-c", "import aiosmtpd").Run(); err != nil {
		t.Skip("there is no SMTP server to send to: install python3-aiosmtpd")
	}
	cert, key, roots := certificate(t)
	cmd := exec.Command(python, append([]string{"testdata/smtpd.py", "--cert", cert, "--key", key}, args...)...)
	if testing.Verbose() {
		cmd.Stderr = os.Stderr // it complains of every refusal
	}
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	s := &server{roots: roots, log: bufio.NewScanner(out)}
	if !s.log.Scan() {
		t.Fatal("the server did not start")
	}
	s.port, err = strconv.Atoi(s.log.Text())
	must(t, err)
	return s
}

// next is the next mail that the server has accepted.
func (s *server) next(t *testing.T) (r received) {
	t.Helper()
	if !s.log.Scan() {
		t.Fatal("no mail came")
	}
	must(t, json.Unmarshal(s.log.Bytes(), &r))
	return r
}

// certificate makes one for 127.0.0.1, and the authority that vouches for it.
func certificate(t *testing.T) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	draft := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, draft, draft, &private.PublicKey, private)
	must(t, err)
	made, err := x509.ParseCertificate(der)
	must(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	cert, key, roots = filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key"), x509.NewCertPool()
	roots.AddCert(made)
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	return cert, key, roots
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, c SMTPConfig) *SMTP {
	t.Helper()
	if c.Host == "" {
		c.Host = "127.0.0.1"
	}
	c.From = "Keystile <id@example.com>"
	s, err := NewSMTP(c)
	must(t, err)
	return s
}

const (
	chineseSubject = "您的登录验证码，来自 id.example.com，请在十分钟内使用"
	chineseText    = "您好！\n\n您的验证码是 123456。\n.\n如非本人操作，请忽略此邮件。\n"
)

func TestMailArrivesAsItWasWritten(t *testing.T) {
	password := storage.NewSecret("pass wörd")
	for mode, c := range map[string]SMTPConfig{
		None:                  {TLS: None},
		None + " with AUTH":   {TLS: None, Username: "ada", Password: password},
		STARTTLS:              {},
		Implicit:              {TLS: Implicit},
		STARTTLS + "and AUTH": {TLS: STARTTLS, Username: "ada", Password: password},
		Implicit + "and AUTH": {TLS: Implicit, Username: "ada", Password: password},
	} {
		t.Run(mode, func(t *testing.T) {
			kind := c.TLS
			if kind == "" {
				kind = STARTTLS
			}
			args := []string{"--tls", kind}
			if c.Username != "" {
				args = append(args, "--user", "ada", "--password", "pass wörd")
			}
			s := serve(t, args...)
			c.Port, c.RootCAs = s.port, s.roots
			must(t, client(t, c).Send(t.Context(), "ada@example.org", chineseSubject, chineseText))
			r := s.next(t)
			if r.From != "id@example.com" || len(r.To) != 1 || r.To[0] != "ada@example.org" || r.TLS != (kind != None) ||
				r.User != c.Username {
				t.Errorf("the server was told %+v", r)
			}
			wantMail(t, r.Content)
		})
	}
}

func wantMail(t *testing.T, content string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(content))
	must(t, err)
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != chineseSubject {
		t.Errorf("Subject = %q, %v", subject, err)
	}
	for name, want := range map[string]string{
		"To": "<ada@example.org>", "From": `"Keystile" <id@example.com>`, "Auto-Submitted": "auto-generated",
		"Content-Type": "text/plain; charset=UTF-8", "Content-Transfer-Encoding": "quoted-printable", "Bcc": "", "Cc": "",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if _, err := m.Header.Date(); err != nil || m.Header.Get("Message-Id") == "" {
		t.Errorf("it has no date or no id: %v", m.Header)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if text := strings.ReplaceAll(string(body), "\r\n", "\n"); err != nil ||
		strings.TrimRight(text, "\n") != strings.TrimRight(chineseText, "\n") {
		t.Errorf("the text is %q, %v", text, err)
	}
}

func TestSMTPRefusalsAreErrors(t *testing.T) {
	s := serve(t, "--tls", "starttls", "--user", "ada", "--password", "right", "--refuse", "nobody@example.org")
	right, wrong := storage.NewSecret("right"), storage.NewSecret("s3cret-and-wrong")
	for promise, c := range map[string]struct {
		SMTPConfig
		to, want string
	}{
		"a refused recipient": {SMTPConfig{RootCAs: s.roots, Username: "ada", Password: right}, "nobody@example.org",
			"no such mailbox"},
		"a wrong password": {SMTPConfig{RootCAs: s.roots, Username: "ada", Password: wrong}, "ada@example.org",
			"535"},
		"nobody signed in":          {SMTPConfig{RootCAs: s.roots}, "ada@example.org", "Authentication required"},
		"an unknown certificate":    {SMTPConfig{Username: "ada", Password: right}, "ada@example.org", "x509"},
		"TLS from the first byte":   {SMTPConfig{TLS: Implicit, RootCAs: s.roots}, "ada@example.org", "tls"},
		"no TLS at all":             {SMTPConfig{TLS: None}, "ada@example.org", "STARTTLS"},
		"a certificate for another": {SMTPConfig{Host: "localhost", RootCAs: s.roots}, "ada@example.org", "x509"},
	} {
		c.Port = s.port
		err := client(t, c.SMTPConfig).Send(t.Context(), c.to, "s", "t")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, want %q in it and no secret", promise, err, c.want)
		}
	}
	// The right way works still, so it was none of the server's other moods.
	must(t, client(t, SMTPConfig{Port: s.port, RootCAs: s.roots, Username: "ada", Password: right}).Send(t.Context(),
		"ada@example.org", "s", "t"))
	if r := s.next(t); r.To[0] != "ada@example.org" {
		t.Errorf("it got %+v", r)
	}
}

// A server that could strip STARTTLS from its answer would read the codes.
func TestServerWithoutSTARTTLSIsSentNothing(t *testing.T) {
	s := serve(t)
	err := client(t, SMTPConfig{Port: s.port}).Send(t.Context(), "ada@example.org", "s", "t")
	if err == nil || !strings.Contains(err.Error(), "STARTTLS") {
		t.Errorf("Send() = %v", err)
	}
}

func TestServerThatHangsIsGivenUp(t *testing.T) {
	for promise, talk := range map[string]func(net.Conn){
		"says nothing": func(c net.Conn) { io.Copy(io.Discard, c) },
		"stops after its greeting": func(c net.Conn) {
			io.WriteString(c, "220 mail.test\r\n")
			io.Copy(io.Discard, c)
		},
		"drips": func(c net.Conn) { // each answer alone is quick enough
			io.WriteString(c, "220 mail.test\r\n")
			for {
				time.Sleep(20 * time.Millisecond)
				if _, err := io.WriteString(c, "250-mail.test\r\n"); err != nil {
					return
				}
			}
		},
	} {
		t.Run(promise, func(t *testing.T) {
			at, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			defer at.Close()
			go func() {
				for {
					c, err := at.Accept()
					if err != nil {
						return
					}
					go func() { defer c.Close(); talk(c) }()
				}
			}()
			s := client(t, SMTPConfig{Port: at.Addr().(*net.TCPAddr).Port, Timeout: 200 * time.Millisecond})
			done := make(chan error)
			go func() { done <- s.Send(t.Context(), "ada@example.org", "s", "t") }()
			select {
			case err := <-done:
				if err == nil {
					t.Error("a mail nobody took was sent")
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it waits for ever")
			}
		})
	}
}

func TestEarlierDeadlineIsRespected(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer at.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		at.Accept()
		cancel()
	}()
	s := client(t, SMTPConfig{Port: at.Addr().(*net.TCPAddr).Port, Timeout: time.Hour})
	if err := s.Send(ctx, "ada@example.org", "s", "t"); !errors.Is(err, context.Canceled) {
		t.Errorf("Send() = %v", err)
	}
}

var injections = []struct{ to, subject string }{
	{"ada@example.org\r\nBcc: eve@example.org", "s"},
	{"ada@example.org\nRCPT TO:<eve@example.org>", "s"},
	{"ada@example.org, eve@example.org", "s"},
	{"ada@example.org> NOTIFY=NEVER", "s"},
	{"Ada <ada@example.org>", "s"},
	{"<ada@example.org>", "s"},
	{"", "s"},
	{"ada", "s"},
	{"ada@example.org", "s\r\nBcc: eve@example.org"},
	{"ada@example.org", "s\nx"},
	{"ada@example.org", "s\x00"},
	{"ada@example.org", ""},
	{"ada@example.org", strings.Repeat("s", 501)},
}

func TestMailHeaderInjectionIsRefused(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	at.Close() // nobody is asked
	s := client(t, SMTPConfig{Port: at.Addr().(*net.TCPAddr).Port})
	for _, c := range injections {
		if err := s.Send(t.Context(), c.to, c.subject, "t"); err == nil || strings.Contains(err.Error(), "refused") {
			t.Errorf("Send(%q, %q) = %v, want a refusal before anybody is asked", c.to, c.subject, err)
		}
	}
}

func TestConfigurationThatIsWrongSaysSo(t *testing.T) {
	password := storage.NewSecret("x")
	for want, c := range map[string]SMTPConfig{
		"Host":          {From: "a@example.com"},
		"Host: \"a b\"": {Host: "a b", From: "a@example.com"},
		"TLS":           {Host: "h", From: "a@example.com", TLS: "ssl"},
		"Port":          {Host: "h", From: "a@example.com", Port: 70000},
		"Username":      {Host: "h", From: "a@example.com", Username: "u"},
		"Password":      {Host: "h", From: "a@example.com", Password: password},
		"clear":         {Host: "h", From: "a@example.com", TLS: None, Username: "u", Password: password},
		"From":          {Host: "h"},
		"no address":    {Host: "h", From: "a@example.com\r\nBcc: eve@example.com"},
	} {
		if _, err := NewSMTP(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NewSMTP(%+v) = %v, want %q in it", c, err, want)
		}
	}
	s, err := NewSMTP(SMTPConfig{Host: "mail.example.com", From: "a@example.com", TLS: None})
	if err != nil || !s.Clear() || s.conf.Port != 25 {
		t.Errorf("a server inside, told so: %v", err)
	}
}
