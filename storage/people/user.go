package people

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Roles. A user without a role may sign in to applications, and make and keep their own.
const (
	RoleAdmin     = "admin"     // may do all
	RoleDeveloper = "developer" // may register capabilities of their own
	RoleAuditor   = "auditor"   // may read all, and change nothing of it
)

// checkRole returns what is wrong with a role.
func checkRole(role string) error {
	switch role {
	case "", RoleAdmin, RoleDeveloper, RoleAuditor:
		return nil
	}
	return fmt.Errorf("%w: role: %q is neither admin, developer, auditor nor empty", document.ErrInvalid, role)
}

// User is a user account. Sub is the id everywhere; ID is the internal number of protocol 2.2.
type User struct {
	Sub           string            `json:"sub"`
	ID            int64             `json:"id"`
	Username      string            `json:"username"`
	Name          string            `json:"name,omitempty"`
	Nickname      string            `json:"nickname,omitempty"`
	Picture       string            `json:"picture,omitempty"`
	Email         string            `json:"email,omitempty"`
	EmailVerified bool              `json:"email_verified,omitempty"`
	Gender        string            `json:"gender,omitempty"` // male, female or ""
	Location      string            `json:"location,omitempty"`
	Role          string            `json:"role,omitempty"`
	Attributes    map[string]string `json:"attributes,omitempty"` // what operators say of the user: see claim.CheckAttributes
	LoginType     string            `json:"login_type,omitempty"` // the method by which the user last signed in; see internal/protocol 1
	Disabled      bool              `json:"disabled,omitempty"`
	Erasing       bool              `json:"erasing,omitempty"` // on the way to be erased, and never enabled again
	CreatedAt     time.Time         `json:"created_at"`
	UpdatedAt     time.Time         `json:"updated_at"`
	Imported      string            `json:"imported,omitempty"` // the digest of the row of a file that the user was made by
	Version       int64             `json:"-"`
	carried
}

var Users = document.Kind[User]{
	Name:    "user",
	ID:      func(u User) string { return u.Sub },
	Index:   User.entries,
	Version: func(u *User) *int64 { return &u.Version },
	Clone:   User.clone,
}

// clone is a copy that shares no memory with u.
func (u User) clone() User {
	u.Attributes = maps.Clone(u.Attributes)
	return u
}

// User returns the user with this sub, or ErrNotFound.
func (s *Store) User(ctx context.Context, sub string) (User, error) {
	return document.Get(ctx, s.docs, Users, sub)
}

// Users returns a page of all users, from the start or from a next of before.
func (s *Store) Users(ctx context.Context, from string, n int) ([]User, string, error) {
	span := driver.Is("all")
	if from != "" {
		span.From = from
	}
	return document.List(ctx, s.docs, Users, span, n)
}

// SaveUser writes a user that has been read before.
func (s *Store) SaveUser(ctx context.Context, u User) (User, error) {
	return s.saveUser(ctx, u)
}

// saveUser writes a user who has been read before, and other documents in the same step.
func (s *Store) saveUser(ctx context.Context, u User, along ...driver.Doc) (User, error) {
	u, err := u.ready()
	if err != nil {
		return u, err
	}
	user, err := Users.Doc(s.docs, u)
	if err != nil {
		return u, err
	}
	err = tellingOf(ctx, s, func() ([]notify.UserEvent, error) { return s.changesOf(ctx, u) },
		func(queued []driver.Doc) error {
			version, err := document.Write(ctx, s.docs, slices.Concat(along, queued, []driver.Doc{user})...)
			if err == nil {
				u.Version = version
			}
			return err
		})
	return u, err
}

// ready checks a user who is to be written.
func (u User) ready() (User, error) {
	if err := u.Check(); err != nil {
		return u, err
	}
	u.UpdatedAt = time.Now().UTC()
	return u, nil
}

// Check returns what is wrong with a user's fields.
func (u User) Check() error {
	switch {
	case u.Username == "" || len(u.Username) > 100 || !driver.ValidName(u.Username):
		return fmt.Errorf("%w: username: 1 to 100 bytes of text", document.ErrInvalid)
	case u.Gender != "" && u.Gender != "male" && u.Gender != "female":
		return fmt.Errorf("%w: gender: %q is neither male, female nor empty", document.ErrInvalid, u.Gender)
	case u.Erasing && !u.Disabled:
		return fmt.Errorf("%w: the user is being erased, and is not enabled again: erase them once more to finish",
			document.ErrInvalid)
	}
	if err := claim.CheckAttributes(u.Attributes); err != nil {
		return err
	}
	return checkRole(u.Role)
}
