package appacts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// SetHost trusts or denies a host. Denying refuses first and ends tokens then, so that nothing is granted in between;
// done again, it ends what a failure has left. ended are the clients whose tokens it ended.
func (a *Clients) SetHost(ctx context.Context, by admin.Actor, typed string, denied bool) (after client.Host,
	ended []string, err error) {
	host, err := a.host(by, typed)
	if err != nil {
		return after, nil, err
	}
	before, err := a.c.Store.ClientHost(ctx, host)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return after, nil, err
	}
	if after, err = a.c.Store.SetClientHost(ctx, host, denied); err != nil {
		return after, nil, err
	}
	changes, failed := []string{changeOf("policy", before.Policy(), after.Policy())}, error(nil)
	if denied {
		ended, failed = a.endHost(ctx, host)
		changes = append(changes, fmt.Sprintf("clients whose tokens ended: %d", len(ended)))
		if failed != nil {
			failed = fmt.Errorf("%s is denied, but not all that its clients were granted has ended: %w; deny it again", host,
				failed)
		}
	}
	if err := a.noteHost(ctx, by, "client host set", host, changes...); err != nil {
		return after, ended, err
	}
	return after, ended, failed
}

// ForgetHost takes back that a host is trusted or denied: the configuration decides about it again.
func (a *Clients) ForgetHost(ctx context.Context, by admin.Actor, typed string) (before client.Host, err error) {
	host, err := a.host(by, typed)
	if err != nil {
		return before, err
	}
	before, err = storage.RetryOnConflict(ctx, func() (client.Host, error) {
		h, err := a.c.Store.ClientHost(ctx, host)
		if err == nil {
			err = a.c.Store.ForgetClientHost(ctx, h)
		}
		return h, err
	})
	if err != nil {
		return before, err
	}
	return before, a.noteHost(ctx, by, "client host forget", host, changeOf("policy", before.Policy(), ""))
}

// host checks an actor, and a host that somebody has typed, which it returns as it is looked up.
func (a *Clients) host(by admin.Actor, typed string) (string, error) {
	if err := administrator(by); err != nil {
		return "", err
	}
	host := strings.ToLower(strings.TrimSpace(typed))
	if client.CheckHost(host) != nil || len(host) > client.MaxID {
		return "", badHost
	}
	return host, nil
}

func (a *Clients) noteHost(ctx context.Context, by admin.Actor, what, host string, changes ...string) error {
	return a.c.Recorder.Note(ctx, by, admin.Act{What: what, On: host, Changes: changes})
}

// endHost ends what the clients of a host were granted, and returns their ids. It reads the clients whose id begins
// with the host, and no others.
func (a *Clients) endHost(ctx context.Context, host string) (ended []string, err error) {
	begin := client.DocumentPrefix + host + "/"
	for from := driver.Is("client").From + begin; from != ""; {
		page, next, err := a.c.Store.Clients(ctx, from, driver.Page)
		if err != nil {
			return ended, err
		}
		var ends []driver.Revocation
		for _, app := range page {
			if !strings.HasPrefix(app.ID, begin) {
				next = ""
				break
			}
			ends = append(ends, driver.Revocation{Kind: driver.RevokeApp, ID: app.ID})
		}
		if len(ends) > 0 {
			if err := a.c.Revoke(ctx, ends...); err != nil {
				return ended, err
			}
		}
		for _, end := range ends {
			a.c.Forget(end.ID)
			ended = append(ended, end.ID)
		}
		from = next
	}
	return ended, nil
}
