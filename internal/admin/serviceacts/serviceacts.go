// Package serviceacts holds the acts of administration on the service as a whole: its stored settings, its signing
// keys, and where it sends events of users. All of them are for administrators.
//
// See package admin for what an act is. Settings and keys are on the audit trail before they are changed: what signs
// tokens, and what decides who may do what, never changes without a trace.
package serviceacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// Store keeps the settings of the service; *storage.Store does.
type Store interface {
	Settings(ctx context.Context) ([]storage.Setting, error)
	Set(ctx context.Context, name, value string) error
}

// Webhook keeps where events of users are sent; *storage.Store has it.
type Webhook interface {
	UserWebhook(ctx context.Context) (url string, secret storage.Secret, err error)
	SetUserWebhook(ctx context.Context, url string, renew bool) (drawn storage.Secret, err error)
}

// Keys are the keys that sign tokens.
type Keys interface {
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
	// RotateKey signs with the next key of an algorithm from now on, and returns it.
	RotateKey(ctx context.Context, alg string) (storage.SigningKey, error)
	// RetireKey withdraws a retired key: what it signed is invalid from now on.
	RetireKey(ctx context.Context, kid string) error
}

// Config holds what New needs.
type Config struct {
	Store    Store
	Keys     Keys    // nil: RotateKey and RetireKey are not called
	Webhook  Webhook // nil: SetUserWebhook is not called
	Issuers  Issuers // nil: AddIssuer and RemoveIssuer are not called
	Recorder admin.Recorder
	Reload   func(context.Context) error // makes the bus of this process obey at once; nil: it notices within seconds
}

// Acts are the acts on the service.
type Acts struct{ c Config }

// New makes Acts.
func New(c Config) *Acts { return &Acts{c} }

// may refuses everybody but administrators with a fresh sign-in.
func may(by admin.Actor) error { return cmp.Or(by.Admin(), by.Fresh()) }

func (a *Acts) note(ctx context.Context, by admin.Actor, what, on string, changes ...string) error {
	return a.c.Recorder.Note(ctx, by, admin.Act{What: what, On: on, User: by.Sub, Changes: changes})
}

// announce notes an act before it is done, or not at all.
func (a *Acts) announce(ctx context.Context, by admin.Actor, what, on string, changes ...string) error {
	err := a.note(ctx, by, what, on, changes...)
	if unrecorded := (*admin.Unrecorded)(nil); errors.As(err, &unrecorded) {
		return fmt.Errorf("the audit trail could not be written, so nothing was changed: %w", unrecorded.Cause)
	}
	return err
}
