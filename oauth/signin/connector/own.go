package connector

import (
	"context"
	"errors"
	"strings"
)

// NewTrouble returns an error of a provider for a Connector of a host's own. Its texts become one
// line; the caller keeps secrets out of them. An error of a context as the cause is kept.
func NewTrouble(provider, code, text string, cause error) *Trouble {
	t := &Trouble{Provider: provider, Code: oneLine(code), Text: oneLine(text)}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(cause, known) {
			t.cause = known
		}
	}
	return t
}

// Tidy returns a profile whose texts are one line of at most 200 bytes each, without an Avatar that
// browsers may not load, a Gender that is none of the protocol, and an Email that is none.
func (p Profile) Tidy() Profile {
	p.Nickname, p.Location = oneLine(p.Nickname), oneLine(p.Location)
	if len(p.Email) > maxText || oneLine(p.Email) != p.Email || !strings.Contains(p.Email, "@") {
		p.Email = ""
	}
	if p.ConfirmedEmail != p.Email {
		p.ConfirmedEmail = ""
	}
	p.Avatar, p.Gender, p.Unread = pictureURL(p.Avatar), gender(p.Gender, "male", "female"), oneLine(p.Unread)
	return p
}
