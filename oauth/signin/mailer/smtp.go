package mailer

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"github.com/keystile/keystile/storage"
)

// The kinds of TLS.
const (
	STARTTLS = "starttls" // the connection begins in the clear and must be encrypted then
	Implicit = "implicit" // it is encrypted from the first byte
	None     = "none"     // it is not encrypted
)

// SMTPConfig describes the mail server. Host and From are required.
type SMTPConfig struct {
	Host     string
	Port     int            // 0: 587; 465 with Implicit, 25 with None
	TLS      string         // "": STARTTLS
	Username string         // "": no authentication
	Password storage.Secret // of Username; never sent unencrypted, except to this machine
	From     string         // an address, or Name <address>
	Timeout  time.Duration  // of a whole mail; 0: 30 seconds
	RootCAs  *x509.CertPool // certificate authorities of the server; nil: the system's
}

// SMTP sends mails through a server. Make it with NewSMTP.
type SMTP struct {
	conf SMTPConfig
	tls  *tls.Config
}

// NewSMTP makes an SMTP, or reports all errors of the SMTPConfig. It does not connect yet.
func NewSMTP(c SMTPConfig) (*SMTP, error) {
	c.TLS, c.Timeout = cmp.Or(c.TLS, STARTTLS), cmp.Or(c.Timeout, 30*time.Second)
	c.Port = cmp.Or(c.Port, map[string]int{STARTTLS: 587, Implicit: 465, None: 25}[c.TLS])
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("mailer: "+format, args...)) }
	if c.Host == "" || strings.ContainsFunc(c.Host,
		func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' }) {
		complain("Host: %q is no name or address of a server", c.Host)
	}
	if c.TLS != STARTTLS && c.TLS != Implicit && c.TLS != None {
		complain("TLS: %q is neither starttls, implicit nor none", c.TLS)
	}
	if c.Port < 0 || c.Port > 65535 || c.Timeout < 0 {
		complain("Port, Timeout: %d, %v; a port is 1 to 65535 and a timeout not negative", c.Port, c.Timeout)
	}
	if (c.Username == "") != c.Password.IsZero() {
		complain("Username, Password: one without the other")
	}
	if c.TLS == None && c.Username != "" && !loopback(c.Host) {
		complain("TLS: none would send the password of %s in the clear", c.Host)
	}
	if from, err := mail.ParseAddress(c.From); err != nil || !oneLine(c.From) {
		complain("From: %q is no address; give one such as Example <id@example.com>", c.From)
	} else {
		c.From = from.String()
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &SMTP{conf: c, tls: &tls.Config{ServerName: c.Host, RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12}}, nil
}

// loopback reports whether a host is this machine, judging by its name alone.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// Clear reports whether emails leave this machine unencrypted.
func (s *SMTP) Clear() bool { return s.conf.TLS == None && !loopback(s.conf.Host) }

// Send sends one email. If the error is nil, the server has accepted it.
func (s *SMTP) Send(ctx context.Context, to, subject, text string) error {
	message, err := s.write(to, subject, text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.conf.Timeout)
	defer cancel()
	conn := &connection{tls: s.conf.TLS == Implicit, conf: s.tls}
	client, err := gomail.NewClient(s.conf.Host, s.options(conn)...)
	if err != nil {
		return fmt.Errorf("mailer: %w", err)
	}
	defer context.AfterFunc(ctx, conn.close)()
	if err := client.DialAndSendWithContext(ctx, message); err != nil && !message.IsDelivered() {
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		return judged(fmt.Errorf("mailer: %s: %w", net.JoinHostPort(s.conf.Host, fmt.Sprint(s.conf.Port)), err))
	}
	return nil
}

func (s *SMTP) options(l *connection) []gomail.Option {
	policy := gomail.TLSMandatory
	if s.conf.TLS != STARTTLS {
		policy = gomail.NoTLS
	}
	all := []gomail.Option{
		gomail.WithPort(s.conf.Port), gomail.WithTimeout(s.conf.Timeout), gomail.WithTLSConfig(s.tls),
		gomail.WithTLSPolicy(policy), gomail.WithDialContextFunc(l.dial), gomail.WithoutNoop(), gomail.WithoutRset(),
	}
	if s.conf.TLS == Implicit {
		all = append(all, gomail.WithSSL())
	}
	if s.conf.Username == "" {
		return all
	}
	mechanisms := []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin}
	if s.conf.TLS == None { // on this machine, see NewSMTP
		mechanisms = []gomail.SMTPAuthType{gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc}
	}
	return append(all, gomail.WithOpportunisticSMTPAuth(mechanisms...), gomail.WithUsername(s.conf.Username),
		gomail.WithPassword(s.conf.Password.Reveal()))
}

func (s *SMTP) write(to, subject, text string) (*gomail.Msg, error) {
	if err := checkMessage(to, subject, text); err != nil {
		return nil, err
	}
	m := gomail.NewMsg(gomail.WithCharset(gomail.CharsetUTF8), gomail.WithEncoding(gomail.EncodingQP))
	if err := errors.Join(m.From(s.conf.From), m.To(to)); err != nil {
		return nil, fmt.Errorf("mailer: %w", err)
	}
	m.Subject(subject)
	m.SetDate()
	m.SetMessageID()
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no holiday notice comes back
	m.SetBodyString(gomail.TypeTextPlain, text)
	return m, nil
}

const maxMail = 64 << 10 // bytes of text

// checkMessage refuses texts that could add headers or recipients.
func checkMessage(to, subject, text string) error {
	address, err := mail.ParseAddress(to)
	switch {
	case err != nil || address.Name != "" || !oneLine(to) || strings.ContainsAny(to, "<>,;"):
		return refusal{errors.New("mailer: the recipient is not one address")}
	case subject == "" || len(subject) > 500 || !oneLine(subject):
		return refusal{errors.New("mailer: a subject is one line of up to 500 bytes")}
	case len(text) > maxMail:
		return refusal{fmt.Errorf("mailer: a text has at most %d bytes", maxMail)}
	}
	return nil
}

func oneLine(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }
