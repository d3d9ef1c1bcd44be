package restcall

import (
	"errors"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
)

// Upstream holds the base URL of a capability and its credential.
type Upstream struct {
	BaseURL  string         // http or https; a path and a query stand before those of the tool
	AuthType string         // none or "", bearer, basic, api_key
	AuthIn   string         // of api_key: header or query
	AuthName string         // of api_key: the header's or the parameter's name
	Secret   storage.Secret // the token, user:password, or the key
	Timeout  time.Duration  // of a call, as Config.Timeout; 0: that

	Headers map[string]storage.Secret // sent beside the credential

	read *reading // nil: it is read for each call
}

// reading holds what an Upstream says, or what is wrong with it.
type reading struct {
	base       *url.URL
	credential Credential
	err        error
}

// Prepared returns an Upstream for many calls, which do not read the URL and the secret again. It
// must not be changed.
func (u Upstream) Prepared() Upstream {
	r := u.reading()
	u.read = &r
	return u
}

func (u Upstream) reading() (r reading) {
	if u.read != nil {
		return *u.read
	}
	if r.base, r.err = netguard.CheckURL(u.BaseURL); r.err == nil {
		r.credential, r.err = u.Credential()
	}
	return r
}

// Check reports everything that keeps requests from being sent, for registration. It
// repeats neither the URL nor the secret.
func (u Upstream) Check() error {
	_, err := netguard.CheckURL(u.BaseURL)
	_, authErr := u.Credential()
	return errors.Join(err, authErr)
}
