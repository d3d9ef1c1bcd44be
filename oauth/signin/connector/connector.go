package connector

import (
	"context"
	"errors"
	"net/url"
	"time"
)

// Connector is one provider that users can sign in with, or a method of a host's own, such as a company directory or a
// badge.
type Connector interface {
	// Name is the login type of protocol 2.2: wx, qq, alipay or douyin; or feishu, wecom or dingtalk, which that
	// protocol has no name for. That of any other method is a letter of a to z and up to 31 more of a to z, 0 to 9 and
	// the hyphen, and none of a login type. It stands in our paths and logs; to applications its login type is self,
	// unless they are told all methods: LoginTypes of an oauth.Config.
	Name() string

	// Label returns the name of a method that has none of the Names above, the same in every language: "Sign in with"
	// fits before it. It has 1 to 60 bytes of visible text. "": the Name is one of those.
	Label() string

	// Begin returns the address to redirect the browser to. A connector that has to ask its provider for it costs a
	// request now and then, and takes at most ten seconds. The error is a *Trouble.
	//
	// A provider takes what is asked of the sign-in, or some of it: OpenID Connect has words for all, GitHub for the
	// account to take, wx for the language, the others for nothing. One that tells in Profile.AuthTime when its user
	// proved who they are is believed; only OpenID Connect does, and the others cannot prove what is asked for.
	Begin(ctx context.Context, v Visit) (string, error)

	// Finish takes the query of our return address, and requests the user's profile from the
	// provider. Back is that of the Visit. It takes at most ten seconds. The
	// error is ErrDenied, ErrCode, ErrStranger or a *Trouble, or that of a store which the connector reads; its text
	// holds no secret, code or token.
	Finish(ctx context.Context, back string, query url.Values) (Profile, error)
}

// Visit is a browser on its way to a provider.
type Visit struct {
	State     string // up to 64 of [0-9a-f]
	Back      string // our own return address
	Mobile    bool   // the browser is on a phone, for which some providers have a page
	UserAgent string // some providers have a page for the browser inside their app, where users are signed in already
	Asked
}

// Profile holds what a provider knows of a user.
//
// A user is never kept out by data that only decorates them. Once an answer has said who they are, the answer
// with their profile may fail, be late or be unreadable: Unread says so to the operator, and the nickname comes
// at another sign-in. Control characters and GBK in names become blanks and question marks. Identity stays
// strict: ids, signatures, two answers that name two people, and who may use the application. Where the id that
// an operator's applications share comes with the profile alone (douyin), a new user whose profile fails gets
// an account by the other id; if they have another account by the shared one, that is found from the next
// sign-in on.
type Profile struct {
	// Subjects holds all stable identities of the user, the strongest first: "u:"+unionid, the
	// same for all of the operator's applications there, and "o:"+appid+":"+openid; of wecom it is
	// "o:"+corpid+":"+userid. There is always one. Profiles that share one are of the same user.
	Subjects []string

	Nickname string // text in one line, at most 200 bytes; may be empty, and may look like HTML
	Avatar   string // an http or https address, or ""
	Gender   string // male, female or "" (protocol 2.3)
	Location string // country, province and city as far as they are known, at most 200 bytes

	// Email is the address that the provider tells of; "": none. It finds no account. ConfirmedEmail is the
	// same, if the provider has verified it and the operator trusts the provider in this; else "".
	Email, ConfirmedEmail string

	// Groups names the groups of users here that the provider has put the user into, as a Connector has turned its
	// names into ours. The user becomes a member of them, and leaves those that the same provider has put them into
	// before. nil: the provider says nothing of groups, and nothing changes; empty: the user is in none.
	Groups []string

	// AuthTime is when the user proved to the provider who they are, which may have been long before they came
	// from there. It is never in the future. Zero: the provider does not say.
	AuthTime time.Time

	// Unread says for the operator's log, in one line and without a secret, why what the provider tells of the
	// user beside their Subjects could not be read; "": it could. They are who the provider says all the same.
	Unread string
}

var (
	// ErrDenied says that the user has denied access. Show the sign-in methods again.
	ErrDenied = errors.New("the person did not consent")

	// ErrCode says that the code is used, expired or invalid. The user can start again.
	ErrCode = errors.New("the provider does not know the code, or no longer")

	// ErrStranger says that the provider knows the user, but that the user may not use the
	// application: they are not, or no longer, a member of the organization.
	ErrStranger = errors.New("the person is no member of the organization, or may not use the application")
)

// Trouble is an error of a provider, or of the connection to it. It holds no secret.
type Trouble struct {
	Provider string // the login type
	Code     string // the provider's own, or "http 503"; "" if there was none
	Text     string // the provider's message, in one line, and a hint
	cause    error  // an error of the context, nothing else: other causes quote addresses
}

func (t *Trouble) Error() string {
	if t.Code == "" {
		return t.Provider + ": " + t.Text
	}
	return t.Provider + ": " + t.Code + ": " + t.Text
}

// Unwrap returns context.Canceled or context.DeadlineExceeded if one of them is the cause.
func (t *Trouble) Unwrap() error { return t.cause }
