package authn

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/internal/document"
)

// SID returns how an application knows a session, of its SIDRoot: 128 bits of a keyed hash of both. It tells
// nothing of the session's id, and two applications cannot find out by it that they have the same user.
func (s *Store) SID(ctx context.Context, root, appID string) (string, error) {
	key := s.sids.Load()
	if key == nil {
		drawn, err := s.service.HMACKey(ctx, "sid")
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
	v, err = document.RetryOnConflict(ctx, func() (_ Session, err error) {
		if !read {
			if v, err = s.Session(ctx, v.ID); err != nil {
				return v, err
			}
		}
		if slices.Contains(v.Apps, appID) || len(v.Apps) >= MaxSessionApps {
			return v, nil
		}
		read, v.Apps = false, append(slices.Clone(v.Apps), appID)
		return document.Put(ctx, s.docs, sessions, v)
	})
	if err != nil || !slices.Contains(v.Apps, appID) {
		return "", err
	}
	return s.SID(ctx, v.SIDRoot(), appID)
}
