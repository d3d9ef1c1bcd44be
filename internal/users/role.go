package users

import (
	"context"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Lister pages through all users, from "" on; *storage.Store does.
type Lister interface {
	Users(ctx context.Context, from string, n int) (page []storage.User, next string, err error)
}

// FirstAdmin returns the sub of the administrator with the lowest number, "" if there is none: what
// somebody at the data folder makes without naming an owner is theirs.
func FirstAdmin(ctx context.Context, store Lister) (string, error) {
	var first storage.User
	for from := ""; ; {
		page, next, err := store.Users(ctx, from, driver.Page)
		if err != nil {
			return "", err
		}
		for _, u := range page {
			if u.Role == storage.RoleAdmin && (first.ID == 0 || u.ID < first.ID) {
				first = u
			}
		}
		if from = next; next == "" {
			return first.Sub, nil
		}
	}
}
