package otp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// The form of a code.
const (
	codeDigits = 6
	Tries      = 5 // of one code
)

// ErrExpired says that no code is valid in this browser, or no longer.
var ErrExpired = errors.New("signin: the code has ended")

// drawCode draws a code, each of a million as likely.
func drawCode() string {
	n, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand does not fail
	return fmt.Sprintf("%0*d", codeDigits, n)
}

// Proof returns the HMAC of a code that is stored. The key is the browser's cookie, which the
// store does not have: a reader of the store cannot try out the million codes.
func Proof(cookie, kind, address, code string) []byte {
	mac := hmac.New(sha256.New, []byte(cookie))
	fmt.Fprintf(mac, "%s\x00%s\x00%s", kind, address, code)
	return mac.Sum(nil)
}

// TicketID returns the id of the one code of a kind that a browser can be waiting for.
func TicketID(kind, cookie string) string { return handle.Hash(kind + ":" + cookie) }

// ticketOf returns the ticket of the code that this browser may type in, or ErrExpired.
func (s *Codes) ticketOf(ctx context.Context, kind, cookie string) (storage.Ticket, error) {
	if cookie == "" {
		return storage.Ticket{}, ErrExpired
	}
	t, err := s.Store.Ticket(ctx, TicketID(kind, cookie))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t, ErrExpired
	case err != nil:
		return t, err
	case t.Kind != kind || !t.Live(time.Now()) || t.Tries >= Tries:
		return t, ErrExpired
	}
	return t, nil
}

// Try uses up one of the tries before it checks the code: guesses made in parallel are no more
// than guesses made in turn.
func (s *Codes) Try(ctx context.Context, kind, cookie, code string) (t storage.Ticket, right bool, err error) {
	for {
		if t, err = s.ticketOf(ctx, kind, cookie); err != nil {
			return t, false, err
		}
		t.Tries++
		t, err = s.Store.SaveTicket(ctx, t)
		switch {
		case errors.Is(err, storage.ErrConflict):
			continue
		case err != nil:
			return t, false, err
		}
		return t, hmac.Equal(t.Proof, Proof(cookie, kind, t.Subject, code)), nil
	}
}

// Use ends the code; only one request can. A guess in between does not keep it alive.
func (s *Codes) Use(ctx context.Context, t storage.Ticket) error {
	for {
		err := s.Store.EndTicket(ctx, t)
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		t, err = s.Store.Ticket(ctx, t.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return ErrExpired
		case err != nil:
			return err
		}
	}
}

// issue makes a code for an address in this browser, and ends the address's other codes of the
// same requester: another client's request must not end the code that the user is typing.
func (s *Codes) issue(w http.ResponseWriter, r *http.Request, kind, requester string,
	t storage.Ticket) (code string, err error) {
	ctx := r.Context()
	old, err := s.Store.TicketsAbout(ctx, kind, t.Subject)
	if err != nil {
		return "", err
	}
	for _, o := range old {
		if o.State != requester {
			continue
		}
		if err := s.Use(ctx, o); err != nil && !errors.Is(err, ErrExpired) {
			return "", err
		}
	}
	cookie, now := s.Pages.BindSecret(w), time.Now().UTC()
	code = drawCode()
	t.ID, t.Kind, t.Browser, t.Method = TicketID(kind, cookie), kind, handle.Hash(cookie), storage.LoginEmail
	t.State = requester
	t.Proof = Proof(cookie, kind, t.Subject, code)
	t.IP, t.Agent = s.Peer(r).String(), web.AgentOf(r)
	t.CreatedAt, t.ExpiresAt = now, now.Add(limits.CodeLife)
	_, err = s.Store.SaveTicket(ctx, t)
	return code, err
}
