package oauth_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// Nobody has to remember to sweep: it comes with the tokens, and ends with them.
func TestOpenTokensSweepsTheStoreUntilTheyAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: "https://id.example.com", Store: store})
		if err != nil {
			t.Fatal(err)
		}
		there := func(key driver.Key) bool {
			t.Helper()
			_, err := store.Token(t.Context(), key)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Fatal(err)
			}
			return err == nil
		}
		issue := func(key driver.Key) {
			t.Helper()
			if err := store.Issue(t.Context(), driver.Token{Key: key, Kind: driver.KindCode, Grant: "g",
				ExpiresAt: time.Now().Add(time.Minute)}); err != nil {
				t.Fatal(err)
			}
		}
		first, second := driver.Key{1}, driver.Key{2}
		issue(first)
		time.Sleep(time.Hour)
		if there(first) {
			t.Error("what has ended is still there after an hour")
		}
		if err := tokens.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		issue(second)
		time.Sleep(time.Hour)
		if !there(second) {
			t.Error("it is swept after Close")
		}
	})
}
