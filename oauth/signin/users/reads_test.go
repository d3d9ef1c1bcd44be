package users_test

import (
	"testing"

	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

func TestUserReadHereIsThatOfTheSameStoreAndOfNoOther(t *testing.T) {
	open := func() *storage.Store {
		s, err := storage.Open(t.Context(), backend.New(t), storage.NewMasterKey())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	mine := open()
	own, wrapped := users.New(mine, nil).Host(), users.New(struct{ users.Store }{mine}, nil).Host()
	if !own.In(mine) {
		t.Error("the same Store is another table")
	}
	for _, other := range []users.Store{nil, open(), (*storage.Store)(nil), struct{ users.Store }{mine}} {
		if own.In(other) {
			t.Errorf("%T is the same table", other)
		}
	}
	if wrapped.In(mine) {
		t.Error("what a host has wrapped is the same table")
	}
}
