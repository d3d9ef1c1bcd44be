package people

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// OpenID is the identity of one user for one application (protocol 2.2).
type OpenID struct {
	AppID     string    `json:"app"`
	UserID    string    `json:"user"` // the user's sub
	OpenID    string    `json:"openid"`
	CreatedAt time.Time `json:"created_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"` // when the user took access away; zero: they have not since they last met
	Version   int64     `json:"-"`
	carried
}

var openIDs = document.Kind[OpenID]{
	Name:    "openid",
	ID:      func(o OpenID) string { return o.AppID + "=" + o.UserID },
	Index:   func(o OpenID) []string { return []string{"openid=" + o.AppID + "=" + o.OpenID, "user=" + o.UserID} },
	Version: func(o *OpenID) *int64 { return &o.Version },
	Clone:   func(o OpenID) OpenID { return o }, // it holds no memory that a copy would share
}

// OpenIDs returns every application a user (a sub) has met.
func (s *Store) OpenIDs(ctx context.Context, sub string) ([]OpenID, error) {
	return document.All(ctx, s.docs, openIDs, driver.Is("user="+sub))
}

// EndOpenID records that a user has ended an application's access; it does nothing if they
// have never met. The openid stays: a user who comes back has the same one.
func (s *Store) EndOpenID(ctx context.Context, appID, sub string, at time.Time) error {
	for {
		o, err := s.OpenID(ctx, appID, sub)
		if errors.Is(err, document.ErrNotFound) || err == nil && !o.EndedAt.IsZero() {
			return nil
		}
		if err != nil {
			return err
		}
		o.EndedAt = at.UTC()
		if _, err := document.Put(ctx, s.docs, openIDs, o); !errors.Is(err, document.ErrConflict) {
			return err
		}
	}
}

// OpenID returns how an application knows a user, or ErrNotFound if they have not met.
func (s *Store) OpenID(ctx context.Context, appID, sub string) (OpenID, error) {
	return document.Get(ctx, s.docs, openIDs, openIDs.ID(OpenID{AppID: appID, UserID: sub}))
}

// FindOpenID returns the user whom an application knows by an openid, or ErrNotFound.
func (s *Store) FindOpenID(ctx context.Context, appID, openid string) (OpenID, error) {
	if !driver.ValidName(appID) || !driver.ValidName(openid) {
		return OpenID{}, document.ErrNotFound
	}
	page, _, err := document.List(ctx, s.docs, openIDs, driver.Is("openid="+appID+"="+openid), 1)
	if err == nil && len(page) == 0 {
		err = document.ErrNotFound
	}
	if err != nil {
		return OpenID{}, err
	}
	return page[0], nil
}

// EnsureOpenID returns how an application knows a user, and draws an openid (32 upper-case
// hexadecimal characters) at their first meeting. All concurrent callers get one value. A
// user who comes back has the same openid. For a user who is being erased it is an ErrNotFound.
func (s *Store) EnsureOpenID(ctx context.Context, appID, sub string) (OpenID, error) {
	o, err := s.OpenID(ctx, appID, sub)
	switch {
	case errors.Is(err, document.ErrNotFound):
		raw := make([]byte, 16)
		rand.Read(raw)
		o = OpenID{AppID: appID, UserID: sub, OpenID: strings.ToUpper(hex.EncodeToString(raw)), CreatedAt: time.Now().UTC()}
	case err != nil || o.EndedAt.IsZero():
		return o, err
	}
	o.EndedAt = time.Time{}
	if o, err = document.PutNew(ctx, s.docs, openIDs, sub, o); errors.Is(err, document.ErrExists) ||
		errors.Is(err, document.ErrConflict) {
		return s.OpenID(ctx, appID, sub)
	}
	return o, err
}
