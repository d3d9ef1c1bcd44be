package signin

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
const qrKind = "qr"

// Where such a sign-in stands. Any of it ends with its time.
const (
	qrPending   = "pending"   // nobody has scanned the code
	qrScanned   = "scanned"   // somebody has, and sees what is asked of them
	qrConfirmed = "confirmed" // they said yes: the browser may collect the sign-in
	qrRejected  = "rejected"  // they said no
	qrCollected = "collected" // it did; the ticket stays so that the phone can still say so
	qrExpired   = "expired"   // not a state of the ticket: it is too late
)

const (
	qrThink   = 60 * time.Second // more, once it is scanned
	qrCollect = 60 * time.Second // from the confirmation on
)

// Why a step is not taken.
var (
	errOver   = errors.New("signin: the code is used, ended or unknown") // which of them is nobody's business
	errOthers = errors.New("signin: somebody else has scanned the code")
)

// step changes a ticket, or leaves it as it is: done is whether it did.
type step func(t *storage.Ticket, now time.Time) (done bool, err error)

// scan is the step of whoever opens what the code leads to: the first becomes the only one
// who can confirm. Looking again changes nothing.
func scan(v storage.Session) step {
	return func(t *storage.Ticket, _ time.Time) (bool, error) {
		switch {
		case t.State == qrPending:
			t.State, t.ExpiresAt = qrScanned, t.ExpiresAt.Add(qrThink)
			t.UserID, t.Session, t.LoginType = v.UserID, v.ID, v.LoginType
			t.Number = drawNumber()
			return true, nil
		case t.UserID != v.UserID:
			return false, errOthers
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
		case t.State == qrPending:
			return false, nil // they have not seen yet what is asked
		case t.UserID != v.UserID:
			return false, errOthers
		case t.State != qrScanned:
			return false, nil
		case !yes:
			t.State = qrRejected
			return true, nil
		}
		t.State, t.ExpiresAt = qrConfirmed, now.Add(qrCollect)
		t.Session, t.LoginType = v.ID, v.LoginType
		return true, nil
	}
}

// take takes a step of the ticket with this scan id, if it is one to take: of requests at
// once, one does, and the others see what became of it.
func (s *scans) take(ctx context.Context, id string, do step) (storage.Ticket, error) {
	for {
		t, err := s.code(ctx, id)
		now := time.Now().UTC()
		if err == nil && !t.Live(now) {
			err = errOver
		}
		if err != nil {
			return t, err
		}
		done, err := do(&t, now)
		if err != nil || !done {
			return t, err
		}
		t, err = s.store.SaveTicket(ctx, t)
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
			return t, err
		}
	}
}

// code returns the ticket with this scan id, which may have ended, or errOver.
func (s *scans) code(ctx context.Context, id string) (storage.Ticket, error) {
	if !web.IsScanID(id) {
		return storage.Ticket{}, errOver
	}
	t, err := s.store.Ticket(ctx, handle.Hash(id))
	if errors.Is(err, storage.ErrNotFound) || err == nil && t.Kind != qrKind {
		return storage.Ticket{}, errOver
	}
	return t, err
}
