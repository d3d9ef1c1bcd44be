package storage

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/told"
)

// settingUserWebhook holds the URL that user events are sent to.
const settingUserWebhook = "webhooks.users.url"

// userWebhookKey is the name of the key that signs them.
const userWebhookKey = settingUserWebhook

// UserWebhook returns where user events are sent, and the secret that they are signed with. Without a URL
// nothing is sent, and what happens is not stored to be sent later.
func (s *Store) UserWebhook(ctx context.Context) (url string, secret Secret, err error) {
	if url, err = s.Setting(ctx, settingUserWebhook); err != nil || url == "" {
		return "", secret, err
	}
	k, err := hmacKeys.get(ctx, s, userWebhookKey)
	return url, k.Key, err
}

// SetUserWebhook changes where user events are sent; "" for nowhere. The caller has checked the URL. The
// secret is drawn with the first URL, and anew if renew is true; it is returned if it was drawn now. What
// waits is sent to the new URL, signed with the new secret; with no URL it is given up.
func (s *Store) SetUserWebhook(ctx context.Context, url string, renew bool) (drawn Secret, err error) {
	if url == "" {
		return drawn, s.Set(ctx, settingUserWebhook, "")
	}
	if err := s.requireFeature(ctx, outgoing); err != nil {
		return drawn, err
	}
	_, err = RetryOnConflict(ctx, func() (hmacKey, error) {
		k, err := hmacKeys.get(ctx, s, userWebhookKey)
		if err != nil && !errors.Is(err, ErrNotFound) || err == nil && !renew {
			return k, err
		}
		raw := make([]byte, 32)
		rand.Read(raw)
		k.Name, k.CreatedAt = userWebhookKey, time.Now().UTC()
		k.Key = NewSecret("whsec_" + base64.StdEncoding.EncodeToString(raw))
		if k, err = hmacKeys.put(ctx, s, k); errors.Is(err, ErrExists) {
			err = ErrConflict
		}
		drawn = k.Key
		return k, err
	})
	if err != nil {
		return Secret{}, err
	}
	return drawn, s.Set(ctx, settingUserWebhook, url)
}

// tellingOf is telling of user events. They are asked for only if anybody wants to know.
func (s *Store) tellingOf(ctx context.Context, events func() ([]told.UserEvent, error), write func(queued []driver.Doc) error) error {
	url, err := s.Setting(ctx, settingUserWebhook)
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
	n := news{member: told.Users}
	for _, e := range all {
		n.events = append(n.events, Delivery{Event: e.Type, URL: url, Payload: e.Payload(time.Now())})
	}
	return s.telling(ctx, []news{n}, write)
}

func one(e told.UserEvent) func() ([]told.UserEvent, error) {
	return func() ([]told.UserEvent, error) { return []told.UserEvent{e}, nil }
}

func toldCreated(u User, by []Login) func() ([]told.UserEvent, error) {
	return one(told.UserEvent{Type: told.UserCreated, Sub: u.Sub, Methods: methodsOf(by)})
}

func toldLogins(what, sub string, some ...Login) func() ([]told.UserEvent, error) {
	return one(told.UserEvent{Type: what, Sub: sub, Methods: methodsOf(some)})
}

func toldChanged(sub string, fields ...string) func() ([]told.UserEvent, error) {
	return one(told.UserEvent{Type: told.UserChanged, Sub: sub, Fields: fields})
}

func toldDeleted(sub string) func() ([]told.UserEvent, error) {
	return one(told.UserEvent{Type: told.UserDeleted, Sub: sub})
}

func methodsOf(some []Login) (names []string) {
	for _, l := range some {
		names = append(names, l.Method)
	}
	return names
}

// changesOf returns the events of a user who is about to be written, compared with what is stored. If that
// changes before the write, the write fails.
func (s *Store) changesOf(ctx context.Context, after User) (all []told.UserEvent, err error) {
	before, err := s.User(ctx, after.Sub)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if fields := fieldsOf(before, after); len(fields) > 0 {
		all = append(all, told.UserEvent{Type: told.UserChanged, Sub: after.Sub, Fields: fields})
	}
	switch {
	case after.Disabled && !before.Disabled:
		all = append(all, told.UserEvent{Type: told.UserLocked, Sub: after.Sub})
	case !after.Disabled && before.Disabled:
		all = append(all, told.UserEvent{Type: told.UserEnabled, Sub: after.Sub})
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
		{"picture", a.Picture == b.Picture}, {"email", a.Email == b.Email}, {"email_verified", a.EmailVerified == b.EmailVerified},
		{"gender", a.Gender == b.Gender}, {"location", a.Location == b.Location}, {"role", a.Role == b.Role},
	} {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return names
}
