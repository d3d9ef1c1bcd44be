package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

func createApp(ctx context.Context, rooms Rooms, args cli.Args) (answer, error) {
	domains, err := normalize(args.Flags["domain"])
	if err != nil {
		return nil, &cli.UsageError{Err: err}
	}
	owner, err := ownerOf(ctx, rooms.Store, args.Get("owner"))
	if err != nil {
		return nil, err
	}
	app, err := rooms.Store.SaveApp(ctx, storage.App{
		Name: args.Get("name"), Domains: domains, RedirectURIs: args.Flags["redirect-uri"],
		Public: args.On("public"), Tier: args.Get("tier"), IDTokenAlg: args.Get("id-token-alg"),
		FirstParty: true, Owner: owner,
	})
	if err != nil {
		return nil, err
	}
	return describe(app), nil
}

// describe shows a new application, its secret included: this once.
func describe(app storage.App) answer {
	a := answer{{"client_id", app.ID}}
	if !app.Public {
		a = append(a, field{"client_secret", app.AppKey().Reveal()})
	}
	a = append(a, field{"name", app.Name}, field{"domains", app.Domains})
	if len(app.RedirectURIs) > 0 {
		a = append(a, field{"redirect_uris", app.RedirectURIs})
	}
	alg := app.IDTokenAlg
	switch {
	case alg == "" && app.Public:
		alg = "ES256"
	case alg == "":
		alg = "HS256"
	}
	return append(a, field{"public", app.Public}, field{"tier", app.Tier}, field{"id_token_alg", alg}, field{"owner", app.Owner})
}

func normalize(typed []string) ([]string, error) {
	var domains []string
	var errs []error
	for _, t := range typed {
		d, err := storage.NormalizeDomain(t)
		if err != nil {
			errs = append(errs, err)
		} else if !slices.Contains(domains, d) {
			domains = append(domains, d)
		}
	}
	return domains, errors.Join(errs...)
}

// ownerOf returns the sub of a username, or of the first administrator; "" if there is none.
func ownerOf(ctx context.Context, store *storage.Store, username string) (string, error) {
	if username == "" {
		return FirstAdmin(ctx, store)
	}
	login, err := store.Login(ctx, storage.LoginSelf, strings.ToLower(strings.TrimSpace(username)))
	if errors.Is(err, storage.ErrNotFound) {
		return "", fmt.Errorf("owner: there is no user %q; create one with: keystile user create", username)
	}
	return login.UserID, err
}

// FirstAdmin returns the sub of the administrator with the lowest number, "" if there is none.
func FirstAdmin(ctx context.Context, store *storage.Store) (string, error) {
	var first storage.User
	for from := ""; ; {
		page, next, err := store.Users(ctx, from, storage.Page)
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
