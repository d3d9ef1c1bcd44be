package legacy_test

import (
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// frontDoor is the provider, with what it was made of.
type testProvider struct {
	*oauth.Server
	store  *storage.Store
	keys   *token.Keys
	signIn *signin.SignIn
}

// shelf is a store, with its backend.
type testStore struct {
	*storage.Store
	backend driver.Backend
}
