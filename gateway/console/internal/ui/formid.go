package ui

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// formLife bounds the time from showing a form to sending it.
const formLife = 55 * time.Minute

const (
	nonceSize = 12
	stampSize = 8
	macSize   = 16
)

var (
	// decision 77
	staleForm = &reply.Failure{Status: 400,
		Msg: "this form is too old, or was not made for this page: check it and send it again"}
	// decision 77
	usedForm = &reply.Failure{Status: 409,
		Msg: "this form was sent already: see whether it has done what you want before you send it again"}
)

// Tickets keeps the ids of forms that were used; *storage.Store has it.
type Tickets interface {
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
}

// newFormID makes the id of a form that is shown to a session at a path.
func newFormID(session, path string, now time.Time) string {
	id := make([]byte, nonceSize+stampSize, nonceSize+stampSize+macSize)
	rand.Read(id[:nonceSize])
	binary.BigEndian.PutUint64(id[nonceSize:], uint64(now.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(id, formMAC(id, session, path)...))
}

func formMAC(id []byte, session, path string) []byte {
	mac := hmac.New(sha256.New, []byte("console form\x00"+session))
	mac.Write(id)
	mac.Write([]byte(path))
	return mac.Sum(nil)[:macSize]
}

// checkFormID accepts an id that useFormID accepts, if it has not been used before.
func checkFormID(text, session, path string, now time.Time) error {
	id, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(id) != nonceSize+stampSize+macSize {
		return staleForm
	}
	body := id[:nonceSize+stampSize]
	if !hmac.Equal(id[len(body):], formMAC(body, session, path)) {
		return staleForm
	}
	shown := time.Unix(int64(binary.BigEndian.Uint64(body[nonceSize:])), 0)
	if age := now.Sub(shown); age > formLife || age < -time.Minute {
		return staleForm
	}
	return nil
}

// useFormID accepts an id once.
func useFormID(ctx context.Context, tickets Tickets, text, session, path string, now time.Time) error {
	if err := checkFormID(text, session, path, now); err != nil {
		return err
	}
	_, err := tickets.SaveTicket(ctx, storage.Ticket{
		ID: handle.Hash("console form " + text), Kind: "console form", Session: session, CreatedAt: now,
		ExpiresAt: now.Add(storage.MaxTicketLife),
	})
	if errors.Is(err, storage.ErrExists) {
		return usedForm
	}
	return err
}
