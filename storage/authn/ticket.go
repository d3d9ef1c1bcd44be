package authn

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// MaxTicketLife is the longest time in which a begun flow has to be finished.
const MaxTicketLife = time.Hour

const maxTicketText = 8 << 10 // bytes of the request that a ticket carries

// Ticket is a flow that a user has begun in a browser and not finished: a code sent by
// mail, a visit to another provider, a QR code on a screen. It ends within minutes. Its
// Version makes each of its steps one that only one request can take.
type Ticket struct {
	ID        string    `json:"id"`                   // storage.HashCookie of the secret or public name it is found by
	Kind      string    `json:"kind"`                 // the kind of flow, named by the package that began it
	Browser   string    `json:"browser,omitempty"`    // likewise, of the cookie of the browser it was begun in
	Query     string    `json:"query,omitempty"`      // the authorize request it belongs to
	AppID     string    `json:"app,omitempty"`        // of that request
	Method    string    `json:"method,omitempty"`     // a login type
	Subject   string    `json:"subject,omitempty"`    // what the user proves, such as an address
	Proof     []byte    `json:"proof,omitempty"`      // a keyed hash of what proves it
	Tries     int       `json:"tries,omitempty"`      // wrong ones so far
	State     string    `json:"state,omitempty"`      // its state, in the words of its package
	Number    string    `json:"number,omitempty"`     // shown on two devices, so that users can compare
	UserID    string    `json:"user,omitempty"`       // the user's sub
	Session   string    `json:"session,omitempty"`    // the id of the session they do it with
	LoginType string    `json:"login_type,omitempty"` // how they had signed in
	IP        string    `json:"ip,omitempty"`         // of the browser it was begun in
	Agent     string    `json:"agent,omitempty"`      // likewise, its User-Agent
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Version   int64     `json:"-"`

	Invitation string `json:"invitation,omitempty"` // the id of the invitation they have brought
	carried
}

var tickets = document.Kind[Ticket]{
	Name: "ticket",
	ID:   func(t Ticket) string { return t.ID },
	Index: func(t Ticket) (all []string) {
		if t.Subject != "" {
			all = append(all, about(t.Kind, t.Subject))
		}
		if t.UserID != "" {
			all = append(all, "user="+t.UserID)
		}
		return all
	},
	Expires: func(t Ticket) time.Time { return t.ExpiresAt },
	Version: func(t *Ticket) *int64 { return &t.Version },
}

// about is the entry of the tickets of one kind that have one subject. It is hashed: a
// subject may be as long as an address, or longer.
func about(kind, subject string) string { return "about=" + handle.Hash(kind+driver.Separator+subject) }

// Live reports whether the ticket has not ended at a time.
func (t Ticket) Live(at time.Time) bool { return at.Before(t.ExpiresAt) }

func (t Ticket) check() error {
	switch {
	case t.Kind == "":
		return fmt.Errorf("%w: a ticket needs a kind", document.ErrInvalid)
	case t.ExpiresAt.IsZero() || t.ExpiresAt.Sub(t.CreatedAt) > MaxTicketLife:
		return fmt.Errorf("%w: a ticket ends within %v", document.ErrInvalid, MaxTicketLife)
	case len(t.Query)+len(t.Agent)+len(t.Subject) > maxTicketText:
		return fmt.Errorf("%w: a ticket carries at most %d bytes", document.ErrInvalid, maxTicketText)
	}
	return nil
}

// Ticket returns a ticket, ended ones included until they are swept, or ErrNotFound.
func (s *Store) Ticket(ctx context.Context, id string) (Ticket, error) {
	return document.Get(ctx, s.docs, tickets, id)
}

// TicketsAbout returns the tickets of one kind that have one subject, ended ones included
// until they are swept.
func (s *Store) TicketsAbout(ctx context.Context, kind, subject string) ([]Ticket, error) {
	return document.All(ctx, s.docs, tickets, driver.Is(about(kind, subject)))
}

// SaveTicket writes a ticket: a new one (ErrExists if there is one), or the next step of
// one that has been read (ErrConflict if another request has taken a step meanwhile).
func (s *Store) SaveTicket(ctx context.Context, t Ticket) (Ticket, error) {
	if err := t.check(); err != nil {
		return t, err
	}
	return document.Put(ctx, s.docs, tickets, t)
}

// EndTicket removes a ticket that has been read before. ErrConflict means that another
// request has used it, so this one must not.
func (s *Store) EndTicket(ctx context.Context, t Ticket) error {
	return document.Remove(ctx, s.docs, tickets, t)
}
