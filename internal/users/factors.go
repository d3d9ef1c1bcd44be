package users

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage"
)

// FactorStore keeps second factors; *storage.Store implements it.
type FactorStore interface {
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	SaveFactors(ctx context.Context, f storage.Factors) (storage.Factors, error)
}

// ResetFactors removes the second factors of a user (a sub) who has lost them, and returns them as they were. The
// trust of their browsers ends, and where a factor is required of them the time to add one begins anew.
func ResetFactors(ctx context.Context, store FactorStore, sub string) (before, after storage.Factors, err error) {
	after, err = storage.RetryOnConflict(ctx, func() (storage.Factors, error) {
		f, err := store.Factors(ctx, sub)
		if before = f; err != nil || f.Version == 0 {
			return f, err
		}
		f.Authenticator, f.AppSecret, f.Passkeys, f.Recovery, f.DueSince = nil, storage.Secret{}, nil, nil, time.Time{}
		f.WrongCodes = 0
		f.Epoch++
		return store.SaveFactors(ctx, f)
	})
	return before, after, err
}

// forgetBrowsers ends the trust of a user's browsers.
func forgetBrowsers(ctx context.Context, store FactorStore, sub string) error {
	_, err := storage.RetryOnConflict(ctx, func() (storage.Factors, error) {
		f, err := store.Factors(ctx, sub)
		if err != nil || !f.Any() {
			return f, err
		}
		f.Epoch++
		return store.SaveFactors(ctx, f)
	})
	return err
}
