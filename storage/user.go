package storage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Login types (spec 1). They name the method by which a user signed in.
const (
	LoginSelf   = "self"
	LoginEmail  = "email"
	LoginWX     = "wx"
	LoginAlipay = "alipay"
	LoginQQ     = "qq"
	LoginDouyin = "douyin"
)

// Roles. A user without a role may sign in to applications and nothing more.
const (
	RoleAdmin     = "admin"
	RoleDeveloper = "developer"
)

// User is a person. Sub is the id everywhere; ID is the internal number of spec 2.2.
type User struct {
	Sub           string    `json:"sub"`
	ID            int64     `json:"id"`
	Username      string    `json:"username"`
	Name          string    `json:"name,omitempty"`
	Nickname      string    `json:"nickname,omitempty"`
	Picture       string    `json:"picture,omitempty"`
	Email         string    `json:"email,omitempty"`
	EmailVerified bool      `json:"email_verified,omitempty"`
	Gender        string    `json:"gender,omitempty"` // male, female or ""
	Location      string    `json:"location,omitempty"`
	Role          string    `json:"role,omitempty"`
	LoginType     string    `json:"login_type,omitempty"` // how the user last signed in
	Disabled      bool      `json:"disabled,omitempty"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	Version       int64     `json:"-"`
}

var users = kind[User]{
	name:    "user",
	id:      func(u User) string { return u.Sub },
	index:   func(u User) []string { return []string{"all"} },
	version: func(u *User) *int64 { return &u.Version },
	memo:    func(s *Store) *memo[User] { return s.users },
}

// clone is u itself: it holds no memory that could be shared.
func (u User) clone() User { return u }

// Login is one way a user proves who they are: a method and what is unique in it (a
// username, an address, an openid elsewhere).
type Login struct {
	Method       string    `json:"method"` // a login type
	Subject      string    `json:"subject"`
	UserID       string    `json:"user"` // the user's sub
	PasswordHash string    `json:"password_hash,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	Version      int64     `json:"-"`
}

var logins = kind[Login]{
	name:    "login",
	id:      func(l Login) string { return l.Method + "=" + l.Subject },
	index:   func(l Login) []string { return []string{"user=" + l.UserID} },
	version: func(l *Login) *int64 { return &l.Version },
}

// OpenID is how one application knows one user (spec 2.2).
type OpenID struct {
	AppID     string    `json:"app"`
	UserID    string    `json:"user"` // the user's sub
	OpenID    string    `json:"openid"`
	CreatedAt time.Time `json:"created_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"` // when the user took access away; zero: they have not since they last met
	Version   int64     `json:"-"`
}

var openIDs = kind[OpenID]{
	name:    "openid",
	id:      func(o OpenID) string { return o.AppID + "=" + o.UserID },
	index:   func(o OpenID) []string { return []string{"openid=" + o.AppID + "=" + o.OpenID, "user=" + o.UserID} },
	version: func(o *OpenID) *int64 { return &o.Version },
}

// counter hands out the internal user numbers.
type counter struct {
	Name    string `json:"name"`
	Last    int64  `json:"last"`
	Version int64  `json:"-"`
}

var counters = kind[counter]{
	name:    "counter",
	id:      func(c counter) string { return c.Name },
	version: func(c *counter) *int64 { return &c.Version },
}

// User returns the user with this sub, or ErrNotFound.
func (s *Store) User(ctx context.Context, sub string) (User, error) { return users.get(ctx, s, sub) }

// Users returns a page of all users, from the start or from a next of before.
func (s *Store) Users(ctx context.Context, from string, n int) ([]User, string, error) {
	span := Is("all")
	if from != "" {
		span.From = from
	}
	return users.list(ctx, s, span, n)
}

// CreateUser writes a user and the logins they are found by, in one step. It draws the
// sub and the number. A login that is taken: ErrExists, and nothing is written.
func (s *Store) CreateUser(ctx context.Context, u User, by ...Login) (User, error) {
	return s.createUser(ctx, u, by)
}

// createUser writes along what else has to happen in the same step.
func (s *Store) createUser(ctx context.Context, u User, by []Login, along ...Doc) (User, error) {
	now := time.Now().UTC()
	u.Sub = "u" + strings.ToLower(rand.Text())
	u.CreatedAt, u.UpdatedAt = now, now
	by = slices.Clone(by)
	for i := range by {
		by[i].UserID, by[i].CreatedAt = u.Sub, now
	}
	if err := u.Check(); err != nil {
		return u, err
	}
	for {
		last, err := counters.get(ctx, s, "user")
		if err != nil && !errors.Is(err, ErrNotFound) {
			return u, err
		}
		last.Name, last.Last = "user", last.Last+1
		u.ID = last.Last
		u.Version, err = s.writeUser(ctx, u, by, last, along)
		var in *PutError
		if errors.As(err, &in) && in.Kind == counters.name {
			continue // another sign-up took the number; each round one of them gets through
		}
		return u, err
	}
}

func (s *Store) writeUser(ctx context.Context, u User, by []Login, last counter, along []Doc) (int64, error) {
	user, err := users.doc(s, u)
	if err != nil {
		return 0, err
	}
	number, err := counters.doc(s, last)
	if err != nil {
		return 0, err
	}
	ways, err := logins.docs(s, by...)
	if err != nil {
		return 0, err
	}
	return s.write(ctx, append(append(ways, along...), number, user)...)
}

// SaveUser writes a user that has been read before.
func (s *Store) SaveUser(ctx context.Context, u User) (User, error) {
	if err := u.Check(); err != nil {
		return u, err
	}
	u.UpdatedAt = time.Now().UTC()
	return users.put(ctx, s, u)
}

// Check says what is wrong with a user's fields.
func (u User) Check() error {
	switch {
	case u.Username == "" || len(u.Username) > 100 || !named(u.Username):
		return fmt.Errorf("%w: username: 1 to 100 bytes of text", ErrInvalid)
	case u.Gender != "" && u.Gender != "male" && u.Gender != "female":
		return fmt.Errorf("%w: gender: %q is neither male, female nor empty", ErrInvalid, u.Gender)
	case u.Role != "" && u.Role != RoleAdmin && u.Role != RoleDeveloper:
		return fmt.Errorf("%w: role: %q is neither admin, developer nor empty", ErrInvalid, u.Role)
	}
	return nil
}

// Login returns a login, or ErrNotFound.
func (s *Store) Login(ctx context.Context, method, subject string) (Login, error) {
	return logins.get(ctx, s, logins.id(Login{Method: method, Subject: subject}))
}

// SaveLogin writes a login: a new password hash, or one more way in.
func (s *Store) SaveLogin(ctx context.Context, l Login) (Login, error) { return logins.put(ctx, s, l) }

// Logins returns every way a user (a sub) has in.
func (s *Store) Logins(ctx context.Context, sub string) ([]Login, error) {
	return logins.all(ctx, s, Is("user="+sub))
}

// LinkLogins gives a user more ways in, all or none. One that is taken, by them or by
// somebody else: ErrExists.
func (s *Store) LinkLogins(ctx context.Context, sub string, more ...Login) error {
	now := time.Now().UTC()
	more = slices.Clone(more)
	for i := range more {
		more[i].UserID, more[i].CreatedAt, more[i].Version = sub, now, 0
	}
	docs, err := logins.docs(s, more...)
	if err != nil {
		return err
	}
	_, err = s.write(ctx, docs...)
	return err
}

// EndLogins takes ways in away that have been read before, all or none.
func (s *Store) EndLogins(ctx context.Context, some ...Login) error {
	docs, err := logins.docs(s, some...)
	if err != nil {
		return err
	}
	for i := range docs {
		docs[i] = Doc{Kind: docs[i].Kind, ID: docs[i].ID, Version: docs[i].Version, Deleted: true}
	}
	_, err = s.write(ctx, docs...)
	return err
}

// UnlinkLogins is EndLogins for a user who keeps another way in: keep has been read before
// too, and is written once more in the same step. So of two requests that each take away
// what the other keeps, one fails with ErrConflict.
func (s *Store) UnlinkLogins(ctx context.Context, keep Login, some ...Login) error {
	docs, err := logins.docs(s, append(slices.Clone(some), keep)...)
	if err != nil {
		return err
	}
	for i := range some {
		docs[i] = Doc{Kind: docs[i].Kind, ID: docs[i].ID, Version: docs[i].Version, Deleted: true}
	}
	_, err = s.write(ctx, docs...)
	return err
}

// OpenIDs returns every application a user (a sub) has met.
func (s *Store) OpenIDs(ctx context.Context, sub string) ([]OpenID, error) {
	return openIDs.all(ctx, s, Is("user="+sub))
}

// PartOpenID writes down that a user has taken an application's access away; nothing if
// they have never met. The openid stays: an application knows who comes back.
func (s *Store) PartOpenID(ctx context.Context, appID, sub string, at time.Time) error {
	for {
		o, err := s.OpenID(ctx, appID, sub)
		if errors.Is(err, ErrNotFound) || err == nil && !o.EndedAt.IsZero() {
			return nil
		}
		if err != nil {
			return err
		}
		o.EndedAt = at.UTC()
		if _, err := openIDs.put(ctx, s, o); !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

// OpenID returns how an application knows a user, or ErrNotFound if they have not met.
func (s *Store) OpenID(ctx context.Context, appID, sub string) (OpenID, error) {
	return openIDs.get(ctx, s, openIDs.id(OpenID{AppID: appID, UserID: sub}))
}

// FindOpenID returns the user whom an application knows by an openid, or ErrNotFound.
func (s *Store) FindOpenID(ctx context.Context, appID, openid string) (OpenID, error) {
	if !named(appID) || !named(openid) {
		return OpenID{}, ErrNotFound
	}
	page, _, err := openIDs.list(ctx, s, Is("openid="+appID+"="+openid), 1)
	if err == nil && len(page) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return OpenID{}, err
	}
	return page[0], nil
}

// MeetOpenID returns how an application knows a user, and draws an openid (32 upper-case
// hexadecimal characters) at their first meeting. All concurrent callers get one value.
// Who meets again has the openid of before.
func (s *Store) MeetOpenID(ctx context.Context, appID, sub string) (OpenID, error) {
	o, err := s.OpenID(ctx, appID, sub)
	switch {
	case errors.Is(err, ErrNotFound):
		raw := make([]byte, 16)
		rand.Read(raw)
		o = OpenID{AppID: appID, UserID: sub, OpenID: strings.ToUpper(hex.EncodeToString(raw)), CreatedAt: time.Now().UTC()}
	case err != nil || o.EndedAt.IsZero():
		return o, err
	}
	o.EndedAt = time.Time{}
	if o, err = openIDs.put(ctx, s, o); errors.Is(err, ErrExists) || errors.Is(err, ErrConflict) {
		return s.OpenID(ctx, appID, sub)
	}
	return o, err
}
