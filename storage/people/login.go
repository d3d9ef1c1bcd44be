package people

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Login types (protocol 1). They name the method by which a user signed in.
const (
	LoginSelf   = "self"
	LoginEmail  = "email"
	LoginWX     = "wx"
	LoginAlipay = "alipay"
	LoginQQ     = "qq"
	LoginDouyin = "douyin"

	// Methods that protocol 1 has no name for: applications are told self.
	LoginFeishu   = "feishu"
	LoginWeCom    = "wecom"
	LoginDingTalk = "dingtalk"
)

// Login is one sign-in method of a user: the method and the user's unique name in it (a
// username, an address, an openid elsewhere).
type Login struct {
	Method       string    `json:"method"` // a login type
	Subject      string    `json:"subject"`
	UserID       string    `json:"user"` // the user's sub
	PasswordHash string    `json:"password_hash,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	Version      int64     `json:"-"`

	// Skeletons is read by CreateUser alone: what the user's name looks like, in up to two ways. No
	// user who is created later may have a name that looks the same.
	Skeletons [2]string `json:"-"`
	carried
}

var logins = document.Kind[Login]{
	Name:    "login",
	ID:      func(l Login) string { return l.Method + "=" + l.Subject },
	Index:   func(l Login) []string { return []string{"user=" + l.UserID} },
	Version: func(l *Login) *int64 { return &l.Version },
}

// Login returns a login, or ErrNotFound.
func (s *Store) Login(ctx context.Context, method, subject string) (Login, error) {
	return document.Get(ctx, s.docs, logins, logins.ID(Login{Method: method, Subject: subject}))
}

// SaveLogin writes a login: a new password hash, or one more sign-in method. A new one of a user who is
// being erased is an ErrNotFound.
func (s *Store) SaveLogin(ctx context.Context, l Login) (Login, error) {
	d, err := logins.Doc(s.docs, l)
	if err != nil {
		return l, err
	}
	added := l.Version == 0
	tell := toldChanged(l.UserID, "password")
	if added {
		tell = toldLogins(notify.UserLinked, l.UserID, l)
	}
	err = tellingOf(ctx, s, tell, func(queued []driver.Doc) error {
		version, err := document.Write(ctx, s.docs, append(queued, d)...)
		if err == nil {
			l.Version = version
		}
		return err
	})
	if err == nil && added {
		err = document.UnlessErased(ctx, s.docs, l.UserID, l.Version, driver.Doc{Kind: logins.Name, ID: d.ID})
	}
	return l, err
}

// Logins returns all logins of a user (a sub).
func (s *Store) Logins(ctx context.Context, sub string) ([]Login, error) {
	return document.All(ctx, s.docs, logins, driver.Is("user="+sub))
}

// LinkLogins adds logins to a user, all or none. It returns ErrExists if one is taken, by
// them or by another user, and ErrNotFound for a user who is being erased.
func (s *Store) LinkLogins(ctx context.Context, sub string, more ...Login) error {
	now := time.Now().UTC()
	more = slices.Clone(more)
	for i := range more {
		more[i].UserID, more[i].CreatedAt, more[i].Version = sub, now, 0
	}
	docs, err := document.Docs(s.docs, logins, more...)
	if err != nil {
		return err
	}
	version := int64(0)
	err = tellingOf(ctx, s, toldLogins(notify.UserLinked, sub, more...), func(queued []driver.Doc) (err error) {
		version, err = document.Write(ctx, s.docs, slices.Concat(docs, queued)...)
		return err
	})
	if err != nil {
		return err
	}
	return document.UnlessErased(ctx, s.docs, sub, version, docs...)
}

// EndLogins removes logins that have been read before, all or none.
func (s *Store) EndLogins(ctx context.Context, some ...Login) error {
	docs, err := document.Docs(s.docs, logins, some...)
	if err != nil {
		return err
	}
	for i := range docs {
		docs[i] = driver.Doc{Kind: docs[i].Kind, ID: docs[i].ID, Version: docs[i].Version, Deleted: true}
	}
	return s.unlink(ctx, some, docs)
}

// unlink writes documents that remove some logins.
func (s *Store) unlink(ctx context.Context, some []Login, docs []driver.Doc) error {
	if len(some) == 0 {
		_, err := document.Write(ctx, s.docs, docs...)
		return err
	}
	return tellingOf(ctx, s, toldLogins(notify.UserUnlinked, some[0].UserID, some...), func(queued []driver.Doc) error {
		_, err := document.Write(ctx, s.docs, slices.Concat(docs, queued)...)
		return err
	})
}

// UnlinkLogins is EndLogins for a user who keeps another login: keep has been read before
// too, and is written again in the same step. So of two requests that each remove what the
// other keeps, one fails with ErrConflict.
func (s *Store) UnlinkLogins(ctx context.Context, keep Login, some ...Login) error {
	docs, err := document.Docs(s.docs, logins, append(slices.Clone(some), keep)...)
	if err != nil {
		return err
	}
	for i := range some {
		docs[i] = driver.Doc{Kind: docs[i].Kind, ID: docs[i].ID, Version: docs[i].Version, Deleted: true}
	}
	return s.unlink(ctx, some, docs)
}
