package users

import (
	"context"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

// Users knows people and their passwords. A host with a user table of its own implements it.
type Users interface {
	// User returns the user with this sub, or storage.ErrNotFound.
	User(ctx context.Context, sub string) (storage.User, error)

	// Authenticate returns the user whose username and password these are. An unknown
	// user and a wrong password are storage.ErrNotFound alike and take equally long; any
	// other error means that nothing was decided. Neither text is ever empty.
	Authenticate(ctx context.Context, username, password string) (storage.User, error)
}

// NamedUsers are Users who can tell whose a username is before a password is looked at. Of
// others it is not known in which browsers the owner of a name has signed in, so while a
// name is guessed at every browser waits for it.
type NamedUsers interface {
	// Named returns the sub of the user who signs in with a username, or storage.ErrNotFound.
	Named(ctx context.Context, username string) (sub string, err error)
}

// EmailUsers are Users who can also sign in with a code by email. Addresses
// are in the form that they are found by, see NormalizeEmail.
type EmailUsers interface {
	// ByEmail returns the user who has proved that an address is theirs, or
	// storage.ErrNotFound.
	ByEmail(ctx context.Context, address string) (storage.User, error)
	// CreateByEmail makes a user of who has proved that an address is theirs. If there
	// is one meanwhile, it returns that one.
	CreateByEmail(ctx context.Context, address string) (storage.User, error)
	// LinkEmail writes down that a user has proved that an address is theirs. One that is
	// somebody else's is storage.ErrExists.
	LinkEmail(ctx context.Context, sub, address string) error
	// EnteredByEmail notes that a user signs in with a code, and returns them as applications
	// are told from then on: the LoginType is storage.LoginEmail.
	EnteredByEmail(ctx context.Context, u storage.User) (storage.User, error)
}

// PasswordUsers are Users who can change their password.
type PasswordUsers interface {
	// HasPassword reports whether a user signs in with a password.
	HasPassword(ctx context.Context, sub string) (bool, error)
	// SetPassword gives a new one to a user who has one. One that does not fit is
	// storage.ErrInvalid and says what to do.
	SetPassword(ctx context.Context, sub, password string) error
}

// PasswordMarker are PasswordUsers of whose passwords the audit trail holds a mark.
type PasswordMarker interface {
	// PasswordMark returns a text that changes with a user's password and tells nothing of
	// it, such as its salted hash. The trail holds 8 bytes of the text's SHA-256.
	PasswordMark(ctx context.Context, sub string) (string, error)
}

// SignUpUsers are Users among whom anybody can become one.
type SignUpUsers interface {
	// SignUp makes a user with a username and a password. Without an invitation it is "".
	// storage.ErrNotFound: it is none, or used. What does not fit is storage.ErrInvalid,
	// a username that is taken storage.ErrExists.
	SignUp(ctx context.Context, u storage.User, password, invitation string) (storage.User, error)
}

// ConnectedUsers are Users who may sign in at other providers too; *StoreUsers is one.
type ConnectedUsers interface {
	Users

	// Connected returns whom a profile of a provider (the Name of its Connector) is of. Where
	// there is nobody it makes a user, or answers storage.ErrNotFound if it lets nobody new
	// in so. It remembers all of the profile's subjects, so that one that arrives later
	// leads to the same user.
	Connected(ctx context.Context, method string, p connector.Profile) (storage.User, error)

	// Connect gives a user (a sub) a provider as one more sign-in method. storage.ErrExists: it is
	// somebody else's.
	Connect(ctx context.Context, sub, method string, p connector.Profile) error
}

// LinkedUsers are Users that know by which ways people sign in. The account page asks them
// instead of its AccountStore.
type LinkedUsers interface {
	Users
	LoginStore
}

// LoginStore knows by which ways people sign in.
type LoginStore interface {
	// Logins returns how a user (a sub) signs in. Of a self login whose PasswordHash is ""
	// the page knows that it lets nobody in; it reads nothing else of the hash.
	Logins(ctx context.Context, sub string) ([]storage.Login, error)
	// UnlinkLogins takes some of them away, all or none, while keep stays:
	// storage.ErrConflict if any of these has changed since it was read.
	UnlinkLogins(ctx context.Context, keep storage.Login, some ...storage.Login) error
}
