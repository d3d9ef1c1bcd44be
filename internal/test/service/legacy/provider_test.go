package legacy_test

import (
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// testProvider is the provider, with its parts.
type testProvider struct {
	*oauth.Server
	codes  *oauth.Legacy
	store  *storage.Store
	keys   *token.Keys
	signIn *signin.SignIn
}

// testStore is a store, with its backend.
type testStore struct {
	*storage.Store
	backend driver.Backend
}
