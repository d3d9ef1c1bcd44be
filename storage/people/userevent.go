package people

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/service"
	"github.com/keystile/keystile/storage/tools"
)

// tellingOf is tools.Queue of user events. They are asked for only if anybody wants to know.
func tellingOf(ctx context.Context, s *Store, events func() ([]notify.UserEvent, error),
	write func(queued []driver.Doc) error) error {
	url, err := s.service.Setting(ctx, service.SettingUserWebhook)
	if err != nil {
		return err
	}
	if url == "" {
		return write(nil)
	}
	all, err := events()
	if err != nil {
		return err
	}
	var queued []tools.Delivery
	for _, e := range all {
		queued = append(queued, tools.Delivery{Member: notify.Users, Event: e.Type, URL: url, Payload: e.Payload(time.Now())})
	}
	return tools.Queue(ctx, s.tools, queued, write)
}

func one(e notify.UserEvent) func() ([]notify.UserEvent, error) {
	return func() ([]notify.UserEvent, error) { return []notify.UserEvent{e}, nil }
}

func toldLogins(what, sub string, some ...Login) func() ([]notify.UserEvent, error) {
	return one(notify.UserEvent{Type: what, Sub: sub, Methods: methodsOf(some)})
}

func toldChanged(sub string, fields ...string) func() ([]notify.UserEvent, error) {
	return one(notify.UserEvent{Type: notify.UserChanged, Sub: sub, Fields: fields})
}

func toldDeleted(sub string) func() ([]notify.UserEvent, error) {
	return one(notify.UserEvent{Type: notify.UserDeleted, Sub: sub})
}

func methodsOf(some []Login) (names []string) {
	for _, l := range some {
		names = append(names, l.Method)
	}
	return names
}

// changesOf returns the events of a user who is about to be written, compared with what is stored. If that
// changes before the write, the write fails.
func (s *Store) changesOf(ctx context.Context, after User) (all []notify.UserEvent, err error) {
	before, err := s.User(ctx, after.Sub)
	if errors.Is(err, document.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if fields := fieldsOf(before, after); len(fields) > 0 {
		all = append(all, notify.UserEvent{Type: notify.UserChanged, Sub: after.Sub, Fields: fields})
	}
	switch {
	case after.Disabled && !before.Disabled:
		all = append(all, notify.UserEvent{Type: notify.UserLocked, Sub: after.Sub})
	case !after.Disabled && before.Disabled:
		all = append(all, notify.UserEvent{Type: notify.UserEnabled, Sub: after.Sub})
	}
	return all, nil
}

// fieldsOf names the fields of a user that differ. How they last signed in is no change of theirs.
func fieldsOf(a, b User) (names []string) {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"username", a.Username == b.Username}, {"name", a.Name == b.Name}, {"nickname", a.Nickname == b.Nickname},
		{"picture", a.Picture == b.Picture}, {"email", a.Email == b.Email},
		{"email_verified", a.EmailVerified == b.EmailVerified},
		{"gender", a.Gender == b.Gender}, {"location", a.Location == b.Location}, {"role", a.Role == b.Role},
		{"attributes", maps.Equal(a.Attributes, b.Attributes)},
	} {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return names
}
