package main

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const (
	username = "ada"
	password = "analytical engine"
)

// newHost makes Keystile with one user and the application, which keeps its appid and appkey: what
// it has in its configuration stays, but for the address.
func newHost(ctx context.Context, origin string, backend driver.Backend,
	appid, appkey string) (*keystile.Service, error) {
	s, err := keystile.New(ctx, keystile.Config{
		// /connect.php and /check_token.php are there too
		BaseURL: origin, Backend: backend, MasterKey: storage.NewMasterKey(),
	})
	if err != nil {
		return nil, err
	}
	if err := fill(ctx, s.Store, appid, appkey); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

func fill(ctx context.Context, store *storage.Store, appid, appkey string) error {
	_, err := store.SaveApp(ctx, storage.App{
		ID: appid, Name: "Shop", Domains: []string{"127.0.0.1"}, FirstParty: true,
		Secrets:        []storage.AppSecret{{Secret: storage.NewSecret(appkey), CreatedAt: time.Now()}},
		ForbidPlainKey: true, // it signs, so a plain appkey is somebody else's
	})
	if err != nil {
		return err
	}
	people := users.New(store, passwords.New(passwords.Cost{}))
	_, err = people.Create(ctx, storage.User{Username: username, Nickname: "Ada"}, password)
	return err
}
