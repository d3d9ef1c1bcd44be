//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// crowd holds some of what the store of a service is filled with beside its refresh tokens: as many users,
// applications, records of the audit trail and rows of usage.
type crowd struct {
	users []storage.User // some of them, who sign in with the administrator's password
	apps  []string       // some of the applications
}

const (
	someUsers   = 1000
	someApps    = 1000
	growers     = 64 // who fill at the same time, so that many share a flush
	usageBatch  = 1000
	usageNode   = "growth"
	eventsAhead = 5000 // that may wait to be stored
)

// crowded fills the store of a service that does not run.
func (s *service) crowded(n int) (c crowd, err error) {
	ctx := context.Background()
	key, err := s.masterKey()
	if err != nil {
		return c, err
	}
	backend, err := s.backend()
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	store, err := storage.Open(ctx, backend, key)
	if err != nil {
		return c, err
	}
	admin, err := store.Login(ctx, storage.LoginSelf, s.admin.Username)
	if err != nil {
		return c, err
	}
	if c.users, err = addUsers(ctx, store, n, admin.PasswordHash); err != nil {
		return c, fmt.Errorf("users: %w", err)
	}
	if c.apps, err = addApps(ctx, store, n); err != nil {
		return c, fmt.Errorf("applications: %w", err)
	}
	if err := addUsage(ctx, store, c.apps, n); err != nil {
		return c, fmt.Errorf("usage: %w", err)
	}
	if err := addRecords(ctx, store, c, n); err != nil {
		return c, fmt.Errorf("audit: %w", err)
	}
	return c, nil
}

func (s *service) masterKey() (key storage.MasterKey, err error) {
	text, err := os.ReadFile(filepath.Join(s.data, "master.key"))
	if err != nil {
		return key, err
	}
	return storage.ParseMasterKey(strings.TrimSpace(string(text)))
}

// addUsers makes users who have one password, and returns the first of them.
func addUsers(ctx context.Context, store *storage.Store, n int, hash string) ([]storage.User, error) {
	some := make([]storage.User, min(n, someUsers))
	err := share(n, func(i int) error {
		name := fmt.Sprintf("person-%08d", i)
		u, err := store.CreateUser(ctx, storage.User{Username: name, Name: "Person " + name,
			Email: name + "@example.com", LoginType: storage.LoginSelf},
			storage.Login{Method: storage.LoginSelf, Subject: name, PasswordHash: hash})
		if err == nil && i < len(some) {
			some[i] = u
		}
		return err
	})
	return some, err
}

// addApps registers applications that belong to nobody, and returns the first of them.
func addApps(ctx context.Context, store *storage.Store, n int) ([]string, error) {
	some := make([]string, min(n, someApps))
	err := share(n, func(i int) error {
		app, err := store.SaveApp(ctx, storage.App{Name: fmt.Sprintf("Application %08d", i),
			Domains: []string{fmt.Sprintf("app-%08d.example.com", i)}})
		if err == nil && i < len(some) {
			some[i] = app.ID
		}
		return err
	})
	return some, err
}

// addUsage counts calls of applications hour by hour, as far back as it takes.
func addUsage(ctx context.Context, store *storage.Store, apps []string, n int) error {
	now := time.Now().UTC().Truncate(time.Hour)
	seq := uint64(0)
	for done := 0; done < n; {
		rows := make([]driver.Count, 0, usageBatch)
		for ; done < n && len(rows) < usageBatch; done++ {
			rows = append(rows, driver.Count{AppID: apps[done%len(apps)], Product: "svc", Calls: 1 + int64(done%7),
				At: now.Add(-time.Duration(done/len(apps)) * time.Hour)})
		}
		seq++
		if err := store.Count(ctx, driver.Batch{Node: usageNode, Seq: seq}, rows); err != nil {
			return err
		}
	}
	return nil
}

// addRecords writes the trail as a service does: its chain, and the order of its records. Each user is on it as often
// as any other.
func addRecords(ctx context.Context, store *storage.Store, c crowd, n int) error {
	trail, err := audit.Open(ctx, audit.Config{Store: store, Name: "growth", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	for i := range n {
		for trail.Stats().Waiting > eventsAhead {
			time.Sleep(time.Millisecond)
		}
		trail.Note(audit.Event{Kind: event.Call, App: c.apps[i%len(c.apps)], User: c.users[i%len(c.users)].Sub,
			Product: "svc", Method: "GET", Path: "/svc/json", IP: fmt.Sprintf("192.0.2.%d", i%250), Status: 200,
			Latency: time.Millisecond, Bytes: 300})
	}
	err = trail.Close(ctx)
	if lost := trail.Stats().Lost; lost > 0 {
		err = errors.Join(err, fmt.Errorf("%d events were lost", lost))
	}
	return err
}

// share calls a function with the numbers below n, from a few goroutines, and stops at an error.
func share(n int, do func(int) error) error {
	errs := make([]error, growers)
	var all sync.WaitGroup
	for g := range growers {
		all.Go(func() {
			for i := g; i < n && errs[g] == nil; i += growers {
				errs[g] = do(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
