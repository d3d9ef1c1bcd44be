package lasthop // import "github.com/keystile/keystile/storage/lasthop"

import "net/url"

const Bearer = "bearer"

type Call struct {
	Audience  string
	Tool      string
	RequestID string
	Identity
}

const Header = "Keystile-Caller"

const Headers = "headers"

type Identity struct {
	Kind    string "json:\"kind,omitempty\""
	Subject string "json:\"subject,omitempty\""
	JTI     string "json:\"jti,omitempty\""
}

func (Identity) Check() error
func (Identity) Shown() Identity
func (Identity) Stored() Identity
func (Identity) With(kind *string, subject *string, jti *string) Identity

const None = "none"

const Off = "off"

const On = "on"

const OpenID = "openid"

func Origin(u *url.URL) string

const Signed = "signed"

const Sub = "sub"
