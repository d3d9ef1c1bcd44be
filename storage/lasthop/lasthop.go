package lasthop

import (
	"cmp"
	"errors"
	"net/url"
	"strings"
)

// Header carries a statement about the caller to an upstream: a JWT of the typ keystile-caller+jwt. A client's own such
// header reaches no upstream.
const Header = "Keystile-Caller"

// Kinds of identity.
const (
	None    = "none"    // the upstream learns nothing of the caller
	Headers = "headers" // the headers X-Keystile-Client, -User, -Scope and -Tier, for upstreams that nobody else reaches
	Signed  = "signed"  // Header, which the upstream verifies by the published keys
	Bearer  = "bearer"  // Headers and the caller's own token, to services behind the proxy alone
)

// Subjects of a statement.
const (
	Sub    = "sub"    // the user's sub, the same for all applications
	OpenID = "openid" // the user's openid, another one for each application
)

// Switches of jti.
const (
	On  = "on"  // a statement is about one request: it has its rid, and a jti of its own
	Off = "off" // it has neither, and one is sent with the calls of half a minute
)

// Identity says what an upstream learns of the caller. By the zero value of a capability it learns nothing.
type Identity struct {
	Kind    string `json:"kind,omitempty"`    // None or "", Headers, Signed, Bearer
	Subject string `json:"subject,omitempty"` // of Signed: Sub or "", OpenID
	JTI     string `json:"jti,omitempty"`     // of Signed: On or "", Off
}

// Check returns what is wrong with the words of an Identity.
func (i Identity) Check() error {
	one := func(name, word string, of ...string) error {
		for _, known := range append(of, "") {
			if word == known {
				return nil
			}
		}
		return errors.New(name + " must be " + strings.Join(of[:len(of)-1], ", ") + " or " + of[len(of)-1])
	}
	err := errors.Join(one("identity", i.Kind, None, Headers, Signed, Bearer),
		one("identity_subject", i.Subject, Sub, OpenID), one("identity_jti", i.JTI, On, Off))
	if err == nil && i.Kind != Signed && (i.Subject != "" || i.JTI != "") {
		err = errors.New("identity_subject and identity_jti are for identity signed: leave them out, or choose that")
	}
	return err
}

// Stored returns an Identity as a capability keeps it, without the words that say what nothing says too.
func (i Identity) Stored() Identity {
	if i.Kind == None {
		i.Kind = ""
	}
	if i.Kind != Signed || i.Subject == Sub {
		i.Subject = ""
	}
	if i.Kind != Signed || i.JTI == On {
		i.JTI = ""
	}
	return i
}

// With returns an Identity with other words in the place of its own, where they are not nil. Those beside another Kind
// begin anew.
func (i Identity) With(kind, subject, jti *string) Identity {
	if kind != nil && (Identity{Kind: *kind}).Shown().Kind != i.Shown().Kind {
		i = Identity{Kind: *kind}
	}
	for to, word := range map[*string]*string{&i.Subject: subject, &i.JTI: jti} {
		if word != nil {
			*to = *word
		}
	}
	return i
}

// Shown returns an Identity with all of its words.
func (i Identity) Shown() Identity {
	if i.Kind = cmp.Or(i.Kind, None); i.Kind == Signed {
		i.Subject, i.JTI = cmp.Or(i.Subject, Sub), cmp.Or(i.JTI, On)
	}
	return i
}

// Call holds what a statement says beside who calls.
type Call struct {
	Audience  string // the upstream's Origin
	Tool      string // MEMBER__NAME, or the product of a service behind the proxy
	RequestID string
	Identity
}

// Origin returns the origin of an upstream (RFC 6454 6.2): its scheme, host and port, without a default port and in
// small letters.
func Origin(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return scheme + "://" + strings.TrimSuffix(host, ":")
}
