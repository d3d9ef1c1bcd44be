package engine

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	described "github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// nothing is a Revoker of which nothing was revoked.
type nothing struct{}

func (nothing) Revoke(context.Context, ...driver.Revocation) error     { return nil }
func (nothing) StopsNow(context.Context, storage.Caller) (bool, error) { return false, nil }

// An answer that is given once more writes nothing, so no store refuses it where nothing can be granted.
func TestRefreshIsNotAnsweredAgainWhileNothingCanBeGranted(t *testing.T) {
	e, now := newEngine(t), time.Now()
	e.Revoker, e.AgentsRefreshWindow = nothing{}, time.Minute
	e.SuccessorKey = func(context.Context) (storage.Secret, error) { return storage.NewSecret("a key of the nodes"), nil }
	e.User = func(_ context.Context, sub string) (storage.User, error) { return storage.User{Sub: sub}, nil }
	first := handle.New(handle.RefreshPrefix, now)
	err := e.Store.Issue(t.Context(), driver.Token{
		Key: handle.KeyOf(first), Kind: driver.KindRefresh, Grant: handle.NewGrant(now), GrantedAt: now, AppID: "agent",
		UserID: "u", Scope: "profile", IssuedAt: now, ExpiresAt: now.Add(time.Hour), AuthTime: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	itself := &described.Description{Grants: []string{GrantCode, GrantRefresh}}
	app := storage.App{ID: "agent", Public: true, Client: itself}
	form := url.Values{"grant_type": {GrantRefresh}, "client_id": {app.ID}, "refresh_token": {first}}
	second, err := e.Token(t.Context(), Request{App: app, Form: form})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := e.Token(t.Context(), Request{App: app, Form: form}); err != nil || again.Refresh != second.Refresh {
		t.Fatalf("once more = %+v, %v", again, err)
	}
	apart := errors.New("the clock is too far from the store's")
	e.MayGrant = func() error { return apart }
	if g, err := e.Token(t.Context(), Request{App: app, Form: form}); !errors.Is(err, apart) {
		t.Errorf("while nothing can be granted: %+v, %v", g, err)
	}
}
