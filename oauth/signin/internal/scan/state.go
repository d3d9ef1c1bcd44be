package scan

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"strconv"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/handle"
)

// A sign-in by a code on a screen is a ticket of this kind. Two names lead to it and
// neither is enough alone: the scan id, which is in the code for everybody to see, and the
// cookie of the browser that shows it.
const kind = "qr"

// Where such a sign-in stands. Any of it ends with its time.
const (
	Pending   = "pending"   // nobody has scanned the code
	Scanned   = "scanned"   // somebody has, and sees what is asked of them
	Confirmed = "confirmed" // they said yes: the browser may collect the sign-in
	Rejected  = "rejected"  // they said no
	Collected = "collected" // it did; the ticket stays so that the phone can still say so
	Expired   = "expired"   // not a state of the ticket: it is too late
)

const (
	confirmTime = 60 * time.Second // more, once it is scanned
	collectTime = 60 * time.Second // from the confirmation on
)

// Why a step is not taken.
var (
	errEnded = errors.New("signin: the code is used, ended or unknown") // which of them is nobody's business
	errTaken = errors.New("signin: somebody else has scanned the code")
)

// step changes a ticket, or leaves it as it is: done is whether it did.
type step func(t *storage.Ticket, now time.Time) (done bool, err error)

// scan is the step of whoever opens what the code leads to: the first becomes the only one
// who can confirm. Looking again changes nothing.
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

// drawNumber draws what both devices show. It is drawn at the scan, so the code does not
// hold it: a code that was sent to somebody else shows them a number that is on no screen
// near them.
func drawNumber() string {
	n, _ := rand.Int(rand.Reader, big.NewInt(90)) // crypto/rand does not fail
	return strconv.FormatInt(10+n.Int64(), 10)
}

// decide is the step of the scanner's answer. Only the first answer counts.
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

// take takes a step of the ticket with this scan id, if it is one to take: of requests at
// once, one does, and the others see what became of it.
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

// code returns the ticket with this scan id, which may have ended, or errOver.
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
