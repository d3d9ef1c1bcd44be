package connector

import (
	"context"
	"errors"
	"net/url"
)

// Connector is one provider that people may sign in with.
type Connector interface {
	// Name is the login type of protocol 2.2: wx, qq, alipay or douyin; of a host's own method,
	// see Labelled.
	Name() string

	// Begin returns where the browser is sent. State is up to 64 of [0-9a-f], back is our
	// own return address, and mobile asks for the page for telephones where there is one.
	Begin(state, back string, mobile bool) string

	// Finish reads what the provider sent back, the query of our return address, and asks
	// the provider who it is. Back is the address Begin was given. It takes at most ten
	// seconds. The error is ErrDenied, ErrCode or a *Trouble; its text holds no secret, code or token.
	Finish(ctx context.Context, back string, query url.Values) (Profile, error)
}

// Labelled is a Connector of a host's own: a method that the protocol has no name for,
// such as a company directory, a passkey or a badge. Its Name is a letter of a to z and up to
// 31 more of a to z, 0 to 9 and the hyphen, and none of a login type. It stands in our paths
// and logs; to applications its login type is self.
type Labelled interface {
	Connector

	// Label is what people call it, in whatever language they read: "Sign in with" fits
	// before it. 1 to 60 bytes of visible text.
	Label() string
}

// Profile is who the provider says somebody is.
type Profile struct {
	// Subjects are all stable identities it gave, the strongest first: "u:"+unionid, the
	// same for all of the operator's applications there, and "o:"+appid+":"+openid. There
	// is always one. Whoever has one of them is the same person.
	Subjects []string

	Nickname string // text in one line, at most 200 bytes; may be empty, and may look like HTML
	Avatar   string // an http or https address, or ""
	Gender   string // male, female or "" (protocol 2.3)
	Location string // country, province and city as far as they are told, at most 200 bytes
}

var (
	// ErrDenied: the person said no. Back to the choice of methods, without a reproach.
	ErrDenied = errors.New("the person did not consent")

	// ErrCode: the code is used, expired or made up. Trying again from the start helps.
	ErrCode = errors.New("the provider does not know the code, or no longer")
)

// Trouble is what went wrong between us and a provider. Nothing in it is secret.
type Trouble struct {
	Provider string // the login type
	Code     string // the provider's own, or "http 503"; "" if there was none
	Text     string // what the provider said, in one line, and what may help
	cause    error  // of the context, nothing else: other causes quote addresses
}

func (t *Trouble) Error() string {
	if t.Code == "" {
		return t.Provider + ": " + t.Text
	}
	return t.Provider + ": " + t.Code + ": " + t.Text
}

// Unwrap is context.Canceled or context.DeadlineExceeded if that is why.
func (t *Trouble) Unwrap() error { return t.cause }
