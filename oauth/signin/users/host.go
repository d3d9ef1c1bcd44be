package users

import (
	"context"
	"errors"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

// Host is a table of users, and everything that can be done with it. Each field but Users may be nil: what it is for
// is off then. The table of the package says what each switches on. A host's own table fills in what it has, often
// with the same value in several fields; [StoreUsers.Host] has all of them.
type Host struct {
	Users // required

	Named      NamedUsers     // finds the user of a username, so that known browsers are not held up
	Connected  ConnectedUsers // other providers; signin.New refuses Connectors without it
	Logins     LoginStore     // the sign-in methods on the account page; nil: those that the Store knows
	Emails     EmailUsers     // codes by email; it takes a signin.Config.Mailer
	Passwords  PasswordUsers  // passwords are changed, and reset; it takes a signin.Config.Revoker
	Marks      PasswordMarker // changes of a password are marked on the audit trail
	Profiles   ProfileUsers   // profiles are edited
	Attributes AttributeUsers // those that signin.Config.ProfileAttributes lists are edited with the profile
	Erasable   ErasableUsers  // users delete themselves; it takes a signin.Config.Revoker. The users of a Store need none
	SignUps    SignUpUsers    // people become users by a form, if signin.Config.SignUp lets them
	Invited    InvitedUsers   // the Admission of a context is obeyed, and invitations are taken
	Creator    Creator        // administrators make users in the console

	// Closed says that nobody becomes a user by themselves. Otherwise a host's table counts as one that strangers
	// come into, as that of a website does: a tool without an access list is its owner's.
	Closed bool

	stored *StoreUsers
}

// Creator makes users who sign in with a password.
type Creator interface {
	// Create returns storage.ErrInvalid for invalid fields and storage.ErrExists for a
	// username that is taken; both messages say what to do.
	Create(ctx context.Context, u storage.User, password string) (storage.User, error)
}

// Host returns the users of the Store with everything that can be done with them.
func (s *StoreUsers) Host() Host {
	return Host{
		Users: s, Named: s, Connected: s, Logins: s.store, Emails: s, Passwords: s, Marks: s, Profiles: s,
		Attributes: s, SignUps: s, Invited: s, Creator: s, stored: s,
	}
}

// Stored reports whether the users are those of some Store, as StoreUsers.Host returns them.
func (h Host) Stored() bool { return h.stored != nil && h.Users == Users(h.stored) }

// Asserted returns the user whom a connector knows by a subject, as another issuer asserts it, or an error that wraps
// storage.ErrNotFound. With create a person who is unknown becomes a user, whose address is email, unconfirmed. Nothing
// is noted of a sign-in. Users who decide by themselves who becomes one of them are found only with create.
func (h Host) Asserted(ctx context.Context, method, subject, email string, create bool) (storage.User, error) {
	if h.Stored() {
		l, err := h.stored.store.Login(ctx, method, subject)
		if err == nil {
			return h.stored.store.User(ctx, l.UserID)
		}
		if !errors.Is(err, storage.ErrNotFound) {
			return storage.User{}, err
		}
	}
	if h.Connected == nil || !create && (h.Invited == nil || h.Stored()) {
		return storage.User{}, storage.ErrNotFound
	}
	return h.Connected.Connected(WithAdmission(ctx, Admission{Open: create}), method,
		connector.Profile{Subjects: []string{subject}, Email: email})
}

// In reports whether the users are those of this very Store: a user that is read from one is the user that the other
// would return at that moment.
func (h Host) In(store Store) bool { return h.Stored() && h.stored.store == store }
