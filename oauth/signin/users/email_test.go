package users

import (
	"net/mail"
	"strings"
	"testing"
	"unicode"
)

// An address that is valid here is valid for a mail server too, exactly as it stands, and is found
// by itself.
func FuzzNormalizeEmail(f *testing.F) {
	for _, seed := range []string{"ada@example.com", " Ada.L+x@Example.COM ", `"a b"@example.com`, "a@b.c,d@e.f", "ada@\u212a.com", "a@example.com\r\nBcc: b@c.d", "!#$%&'*+/=?^_`{|}~@x.yz", "a@1.2.3.4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, err := NormalizeEmail(text)
		if err != nil {
			return
		}
		if again, err := NormalizeEmail(address); err != nil || again != address {
			t.Errorf("Mailbox(%q) = %q, and of that %q, %v", text, address, again, err)
		}
		if !strings.EqualFold(strings.TrimSpace(text), address) ||
			strings.ContainsFunc(address, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' }) {
			t.Errorf("Mailbox(%q) = %q", text, address)
		}
		if a, err := mail.ParseAddress(address); err != nil || a.Address != address || a.Name != "" {
			t.Errorf("net/mail reads %q as %+v, %v", address, a, err)
		}
	})
}
