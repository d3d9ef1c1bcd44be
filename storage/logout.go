package storage

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/told"
)

// toldList is the list of what is due of these queues. It is not that of capabilities: those who send
// the one do not know how to send the other.
const toldList = "tell"

func dueList(member string) string {
	if told.Is(member) {
		return toldList
	}
	return plainList
}

func lifeIn(member string) time.Duration {
	if _, ok := told.AppOf(member); ok {
		return LogoutLife
	}
	return DeliveryLife
}

// DueTold is DueDeliveries for what applications are told, and for user events.
func (s *Store) DueTold(ctx context.Context, at time.Time, n int) ([]Delivery, error) {
	return deliveries.dueOn(ctx, s, toldList, at, n)
}

// Queued receives a value after deliveries have joined a queue in this process: of several writes at
// once, one. It is for the one who sends them.
func (s *Store) Queued() <-chan struct{} { return s.queued }

func (s *Store) wake() {
	select {
	case s.queued <- struct{}{}:
	default:
	}
}

// SID returns how an application knows a session, of its SIDRoot: 128 bits of a keyed hash of both. It tells nothing of the
// session's id, and two applications cannot find out by it that they have the same user.
func (s *Store) SID(ctx context.Context, root, appID string) (string, error) {
	key := s.sids.Load()
	if key == nil {
		drawn, err := s.HMACKey(ctx, "sid")
		if err != nil {
			return "", err
		}
		key = &drawn
		s.sids.Store(key)
	}
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	fmt.Fprintf(mac, "%d %s %s", len(root), root, appID)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16]), nil
}

// JoinSession puts an application on the list of those that are told of the end of a session, before it is
// given a code. Only the first code of a session writes. It returns the application's SID: "" if the session
// is none of this store, or has MaxSessionApps on its list already. A session that has ended meanwhile is an
// ErrNotFound.
func (s *Store) JoinSession(ctx context.Context, v Session, appID string) (sid string, err error) {
	if v.Version == 0 {
		return "", nil
	}
	read := true
	v, err = RetryOnConflict(ctx, func() (_ Session, err error) {
		if !read {
			if v, err = s.Session(ctx, v.ID); err != nil {
				return v, err
			}
		}
		if slices.Contains(v.Apps, appID) || len(v.Apps) >= MaxSessionApps {
			return v, nil
		}
		read, v.Apps = false, append(slices.Clone(v.Apps), appID)
		return sessions.put(ctx, s, v)
	})
	if err != nil || !slices.Contains(v.Apps, appID) {
		return "", err
	}
	return s.SID(ctx, v.SIDRoot(), appID)
}

// sessionEnd returns what the applications of a session are told when it ends.
func (s *Store) sessionEnd(ctx context.Context, v Session) (all []news, err error) {
	for _, id := range v.Apps {
		sid, err := s.SID(ctx, v.SIDRoot(), id)
		if err != nil {
			return nil, err
		}
		n, err := s.logout(ctx, id, told.Logout{Sub: v.UserID, SID: sid})
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// logout returns what one application is told: nothing, if it is gone, is disabled, or does not want to know.
func (s *Store) logout(ctx context.Context, appID string, l told.Logout) (n news, err error) {
	a, err := s.App(ctx, appID)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && (a.Disabled || a.BackchannelLogoutURI == ""):
		return n, nil
	case err != nil:
		return n, err
	}
	d := Delivery{Event: told.LogoutEvent, URL: a.BackchannelLogoutURI, Payload: l.Payload()}
	return news{told.App(appID), []Delivery{d}}, nil
}

// tellUserLogout tells all applications that a user has met that no session of theirs goes on. A step is for
// some of them; it is done again from the start if it breaks off, as Revoke is.
func (s *Store) tellUserLogout(ctx context.Context, sub string) error {
	met, err := s.OpenIDs(ctx, sub)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(met, MaxSessionApps) {
		var all []news
		for _, o := range some {
			n, err := s.logout(ctx, o.AppID, told.Logout{Sub: sub})
			if err != nil {
				return err
			}
			all = append(all, n)
		}
		err := s.telling(ctx, all, func(queued []driver.Doc) error {
			if len(queued) == 0 {
				return nil
			}
			_, err := s.write(ctx, queued...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkLogoutURI returns what is wrong with the BackchannelLogoutURI. Only who registers an application here
// may have requests sent: one that has brought its own description is nobody's.
func (a App) checkLogoutURI() error {
	switch {
	case a.BackchannelLogoutURI == "":
		return nil
	case a.Client != nil:
		return errors.New("an application that nobody registered here is not told of the end of sessions")
	}
	return App{Domains: a.Domains}.AllowsRedirect(a.BackchannelLogoutURI)
}
