package users

import (
	"context"
	"errors"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

// Users finds users and checks their passwords. A host with a user table of its own implements it.
type Users interface {
	// User returns the user with this sub, or storage.ErrNotFound.
	User(ctx context.Context, sub string) (storage.User, error)

	// Authenticate returns the user whose username and password these are. An unknown
	// user and a wrong password are storage.ErrNotFound alike and take equally long; any
	// other error means that nothing was decided. Neither text is ever empty. The password is as it was typed: hash
	// and compare passwords.Normal of it, as a passwords.Hasher does, or a user who sets one on one keyboard does not
	// get in with another.
	Authenticate(ctx context.Context, username, password string) (storage.User, error)
}

// NamedUsers are Users that can find the user of a username before a password is checked. Without
// it the known browsers of the user are not known, so every browser waits while a name is guessed
// at.
type NamedUsers interface {
	// Named returns the sub of the user who signs in with a username, or storage.ErrNotFound.
	Named(ctx context.Context, username string) (sub string, err error)
}

// EmailUsers are Users that can also sign in with a code by email. Addresses are normalized, see
// NormalizeEmail.
type EmailUsers interface {
	// ByEmail returns the user with a confirmed address, or storage.ErrNotFound.
	ByEmail(ctx context.Context, address string) (storage.User, error)
	// CreateByEmail makes a user with a confirmed address. If there is one meanwhile, it returns
	// that one.
	CreateByEmail(ctx context.Context, address string) (storage.User, error)
	// LinkEmail stores a confirmed address of a user. One of another user is storage.ErrExists.
	LinkEmail(ctx context.Context, sub, address string) error
	// EnteredByEmail stores that a user has signed in with a code, and returns them with the
	// LoginType storage.LoginEmail, which applications see from then on.
	EnteredByEmail(ctx context.Context, u storage.User) (storage.User, error)
}

// PasswordUsers are Users whose passwords can be changed.
type PasswordUsers interface {
	// HasPassword reports whether a user signs in with a password.
	HasPassword(ctx context.Context, sub string) (bool, error)
	// SetPassword sets the password of a user who has one already. If the new one is not
	// acceptable, the error is storage.ErrInvalid and says what to do.
	SetPassword(ctx context.Context, sub, password string) error
}

// PasswordMarker is implemented by PasswordUsers to show changes of a password on the audit trail.
type PasswordMarker interface {
	// PasswordMark returns a text that changes with a user's password and does not reveal it,
	// such as its salted hash. The trail holds 8 bytes of the text's SHA-256.
	PasswordMark(ctx context.Context, sub string) (string, error)
}

// Profile holds what users say of themselves, and applications see with the scope profile.
type Profile struct{ Name, Nickname, Picture, Gender, Location string }

// ProfileOf returns the profile of a user.
func ProfileOf(u storage.User) Profile {
	return Profile{u.Name, u.Nickname, u.Picture, u.Gender, u.Location}
}

// ProfileUsers are Users who can change their profile.
type ProfileUsers interface {
	// SetProfile replaces the profile of a user (a sub) in one write, and returns the one before. The page
	// has checked it: each text is one visible line of at most 200 bytes, the picture an https URL of at most
	// 1,024, the gender male, female or empty; what the user has left as it was is as it was. If it is still
	// not acceptable, the error is storage.ErrInvalid.
	SetProfile(ctx context.Context, sub string, p Profile) (before Profile, err error)
}

// AttributeChange is a change of one attribute of a user, where "" is none.
type AttributeChange struct{ Name, Was, Is string }

// ErrAttributeChanged says that an attribute of a user has been changed since it was read.
var ErrAttributeChanged = errors.New("users: the attribute has been changed meanwhile")

// AttributeUsers are ProfileUsers who can also change attributes of theirs, those of signin.Config.ProfileAttributes.
type AttributeUsers interface {
	// SetProfileWith is SetProfile of ProfileUsers, and changes attributes in the same write. The page has checked that
	// each is a listed one, and that each text is one visible line of at most 1,024 bytes. If an attribute is not what
	// it was any more, the error is ErrAttributeChanged. If the user has no room for another one, it is
	// storage.ErrInvalid. Nothing is stored then.
	SetProfileWith(ctx context.Context, sub string, p Profile, changes []AttributeChange) (before Profile, err error)
}

// ErasableUsers are a host's own Users whose members can be removed, with all that its table holds of them.
// Sign-in removes the records of the Store afterwards. The users of the Store need no such method.
type ErasableUsers interface {
	// EraseUser removes a user (a sub) for good. They have been signed out. Of a user who is gone it removes
	// what is left, and returns nil.
	EraseUser(ctx context.Context, sub string) error
}

// SignUpUsers are Users that can be created by a form.
type SignUpUsers interface {
	// SignUp makes a user with a username and a password; the invitation may be "". An unknown or
	// used invitation is storage.ErrNotFound, an unacceptable username or password
	// storage.ErrInvalid, a username that is taken storage.ErrExists.
	SignUp(ctx context.Context, u storage.User, password, invitation string) (storage.User, error)
}

// ConnectedUsers are Users that can sign in by other providers too; *StoreUsers implements it.
type ConnectedUsers interface {
	Users

	// Connected returns the user of a provider's profile (method is the Name of its Connector). If
	// there is none it makes one, or returns storage.ErrNotFound if it accepts no new users: whom
	// the Config of sign-in lets become one is in the context, see AdmissionOf. It
	// must store all subjects of the profile, so that each leads to the same user later.
	Connected(ctx context.Context, method string, p connector.Profile) (storage.User, error)

	// Connect adds a provider to the sign-in methods of a user (a sub). A profile of another user
	// is storage.ErrExists.
	Connect(ctx context.Context, sub, method string, p connector.Profile) error
}

// LoginStore keeps the sign-in methods of users. The account page uses that of a Host instead of its AccountStore.
type LoginStore interface {
	// Logins returns the logins of a user (a sub). A self login whose PasswordHash is "" cannot be
	// used to sign in; the page reads nothing else of the hash.
	Logins(ctx context.Context, sub string) ([]storage.Login, error)
	// UnlinkLogins removes some of them, all or none, while keep stays: storage.ErrConflict if
	// any of these has changed since it was read.
	UnlinkLogins(ctx context.Context, keep storage.Login, some ...storage.Login) error
}

// DataStore knows what else is held about users, and deletes it; *storage.Store implements it.
type DataStore interface {
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error)
	CountOwned(ctx context.Context, sub string) (apps, capabilities int, err error)
	UserGrants(ctx context.Context, sub string) (storage.User, []storage.Consent, []storage.OpenID, error)
	SaveUserKeepingAdmin(ctx context.Context, u storage.User) (storage.User, error)
	EraseUser(ctx context.Context, sub string, looksOfName func(username string) []string) error
}
