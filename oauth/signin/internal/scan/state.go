package scan

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// A sign-in by a code on a screen is a ticket of this kind. Two names lead to it and
// neither is enough alone: the scan id, which is in the code for everybody to see, and the
// cookie of the browser that shows it.
const kind = "qr"

// The states of such a sign-in. Each of them expires.
const (
	Pending   = "pending"   // nobody has scanned the code
	Scanned   = "scanned"   // a user has, and sees the confirmation
	Confirmed = "confirmed" // the user has confirmed: the browser may collect the sign-in
	Rejected  = "rejected"  // the user has rejected it
	Collected = "collected" // the browser has collected it; the ticket stays for the phone's page
	Expired   = "expired"   // not stored: the ticket's time is over
)

const (
	confirmTime = 60 * time.Second // more, once it is scanned
	collectTime = 60 * time.Second // from the confirmation on
)

// Why a step is not taken.
var (
	errEnded = errors.New("signin: the code is used, ended or unknown") // which of them must not be revealed
	errTaken = errors.New("signin: somebody else has scanned the code")
)

// step changes a ticket and returns true, or leaves it as it is.
type step func(t *storage.Ticket, now time.Time) (done bool, err error)

// scan returns the step of a user who opens the link of the code: the first one becomes the only
// one who can confirm. Opening it again changes nothing.
func scan(v storage.Session) step {
	return func(t *storage.Ticket, _ time.Time) (bool, error) {
		switch {
		case t.State == Pending:
			t.State, t.ExpiresAt = Scanned, t.ExpiresAt.Add(confirmTime)
			t.UserID, t.Session, t.LoginType = v.UserID, v.ID, v.LoginType
			t.Number = drawNumber()
			return true, nil
		case t.UserID != v.UserID:
			return false, errTaken
		}
		return false, nil
	}
}

// drawNumber draws the number that both devices show. It is drawn at the scan, so the code does
// not hold it: after the scan of a code that an attacker has sent, no screen nearby shows it.
func drawNumber() string {
	n, _ := rand.Int(rand.Reader, big.NewInt(90)) // crypto/rand does not fail
	return strconv.FormatInt(10+n.Int64(), 10)
}

// decide returns the step of the user's answer. Only the first answer counts.
func decide(v storage.Session, yes bool) step {
	return func(t *storage.Ticket, now time.Time) (bool, error) {
		switch {
		case t.State == Pending:
			return false, nil // they have not seen yet what is asked
		case t.UserID != v.UserID:
			return false, errTaken
		case t.State != Scanned:
			return false, nil
		case !yes:
			t.State = Rejected
			return true, nil
		}
		t.State, t.ExpiresAt = Confirmed, now.Add(collectTime)
		t.Session, t.LoginType = v.ID, v.LoginType
		return true, nil
	}
}

// take applies a step to the ticket with this scan id: of parallel requests one changes it, and
// the others return the changed ticket.
func (s *Scans) take(ctx context.Context, id string, do step) (storage.Ticket, error) {
	for {
		t, err := s.code(ctx, id)
		now := time.Now().UTC()
		if err == nil && !t.Live(now) {
			err = errEnded
		}
		if err != nil {
			return t, err
		}
		done, err := do(&t, now)
		if err != nil || !done {
			return t, err
		}
		t, err = s.Store.SaveTicket(ctx, t)
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
			return t, err
		}
	}
}

// code returns the ticket with this scan id, which may have expired, or errEnded.
func (s *Scans) code(ctx context.Context, id string) (storage.Ticket, error) {
	if !web.IsScanID(id) {
		return storage.Ticket{}, errEnded
	}
	t, err := s.Store.Ticket(ctx, handle.Hash(id))
	if errors.Is(err, storage.ErrNotFound) || err == nil && t.Kind != kind {
		return storage.Ticket{}, errEnded
	}
	return t, err
}
