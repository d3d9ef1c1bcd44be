//go:build linux

package main

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// fill puts live refresh tokens of the last three weeks into a store that nobody serves, and closes it.
func fill(store driver.Backend, n int, app, owner string) (handles []string, err error) {
	defer func() { err = errors.Join(err, store.Close()) }()
	handles = make([]string, 0, n)
	first := time.Now().Add(-21 * 24 * time.Hour)
	step := 20 * 24 * time.Hour / time.Duration(n)
	for len(handles) < n {
		some := make([]driver.Token, min(1000, n-len(handles)))
		for i := range some {
			at := first.Add(time.Duration(len(handles)) * step)
			text := handle.New(handle.RefreshPrefix, at)
			handles = append(handles, text)
			some[i] = driver.Token{
				Key: handle.KeyOf(text), Kind: driver.KindRefresh, Grant: handle.NewGrant(at), GrantedAt: at, AppID: app,
				UserID: owner,
				Scope:  "openid profile", IssuedAt: at, ExpiresAt: at.Add(30 * 24 * time.Hour), AuthTime: at,
				LoginType: storage.LoginSelf,
			}
		}
		if err := store.Issue(context.Background(), some...); err != nil {
			return nil, err
		}
	}
	return handles, nil
}
