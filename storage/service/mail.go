package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
)

// Limits of emails.
const (
	MaxMail     = 64 << 10       // bytes of the content of an email
	MaxMailLife = 24 * time.Hour // in which it must be handed over
)

// Mail is an email that was promised and is not handed over to the mail server yet. It is removed
// when it has been, or is given up. Its content, which may hold a code and an address, is sealed.
type Mail struct {
	ID        string        `json:"id"`           // drawn by AddMail
	Kind      string        `json:"kind"`         // named by the package that knows how to write it
	Of        string        `json:"of,omitempty"` // a hash: whose it is, to bound how many wait
	Content   secret.Secret `json:"-"`
	CreatedAt time.Time     `json:"created_at"`
	NextAt    time.Time     `json:"next_at"` // when it is due, or its sender's lease ends
	Attempts  int           `json:"attempts"`
	ExpiresAt time.Time     `json:"expires_at"` // nobody needs it later
	Version   int64         `json:"-"`
	carried
}

var mails = document.Kind[Mail]{
	Name: "mail",
	ID:   func(m Mail) string { return m.ID },
	Index: func(m Mail) []string {
		return []string{document.Due(m.NextAt), mailsOf(m.Kind, ""), mailsOf(m.Kind, m.Of)}
	},
	Expires: func(m Mail) time.Time { return m.ExpiresAt },
	Version: func(m *Mail) *int64 { return &m.Version },
	Secrets: func(m *Mail) map[string]*secret.Secret { return map[string]*secret.Secret{"content": &m.Content} },
}

// mailsOf is the entry of the emails of one kind, or of those that somebody has of it.
func mailsOf(kind, of string) string {
	return "of=" + handle.Hash(kind+driver.Separator+of)
}

func (m Mail) check() error {
	switch {
	case m.Kind == "" || m.Content.IsZero():
		return fmt.Errorf("%w: a mail needs a kind and a content", document.ErrInvalid)
	case len(m.Content.Reveal()) > MaxMail:
		return fmt.Errorf("%w: the content of a mail is at most %d bytes", document.ErrInvalid, MaxMail)
	case m.ExpiresAt.IsZero() || m.ExpiresAt.Sub(m.CreatedAt) > MaxMailLife:
		return fmt.Errorf("%w: a mail ends within %v", document.ErrInvalid, MaxMailLife)
	}
	return nil
}

// Wait returns how long a mail is not due yet at a time; 0: it is due.
func (m Mail) Wait(at time.Time) time.Duration { return document.WaitUntil(m.NextAt, at) }

// AddMail stores a new mail. It is due at once unless NextAt says when.
func (s *Store) AddMail(ctx context.Context, m Mail) (Mail, error) {
	m.CreatedAt = time.Now().UTC()
	m.ID, m.Version = document.TimedID("mail_", m.CreatedAt), 0
	if m.Of != "" {
		m.Of = handle.Hash(m.Of)
	}
	m.NextAt = cmp.Or(m.NextAt, m.CreatedAt)
	if err := m.check(); err != nil {
		return m, err
	}
	return document.Put(ctx, s.docs, mails, m)
}

// Mail returns a mail, or ErrNotFound.
func (s *Store) Mail(ctx context.Context, id string) (Mail, error) {
	return document.Get(ctx, s.docs, mails, id)
}

// SaveMail writes a mail that was read before. ErrConflict means that it has changed meanwhile, so
// moving NextAt ahead is a lease: of many that try, one may send.
func (s *Store) SaveMail(ctx context.Context, m Mail) (Mail, error) {
	if m.Version == 0 {
		return m, fmt.Errorf("%w: a mail is made by AddMail", document.ErrInvalid)
	}
	if err := m.check(); err != nil {
		return m, err
	}
	return document.Put(ctx, s.docs, mails, m)
}

// DeleteMail removes a mail that was read before; ErrConflict if it has changed meanwhile.
func (s *Store) DeleteMail(ctx context.Context, m Mail) error {
	err := document.Remove(ctx, s.docs, mails, m)
	if errors.Is(err, document.ErrNotFound) { // it has expired
		return nil
	}
	return err
}

// DueMails returns up to n mails that are due by a time, the earliest first, and those that were
// deferred by a clock that was ahead.
func (s *Store) DueMails(ctx context.Context, by time.Time, n int) ([]Mail, error) {
	return document.ListDue(ctx, s.docs, mails, by, n)
}

// CountMails returns how many mails of a kind are stored, or only those of somebody if of is not
// empty; at most n. Their contents are not opened.
func (s *Store) CountMails(ctx context.Context, kind, of string, n int) (int, error) {
	if of != "" {
		of = handle.Hash(of)
	}
	docs, _, err := document.Backend(s.docs).List(ctx, mails.Name, driver.Is(mailsOf(kind, of)), n)
	return len(docs), document.Unavailable("count mails", err)
}
