package restcall

import (
	"errors"
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
}

// Check reports everything that keeps requests from being sent, for registration. It
// repeats neither the URL nor the secret.
func (u Upstream) Check() error {
	_, err := netguard.CheckURL(u.BaseURL)
	_, authErr := u.Credential()
	return errors.Join(err, authErr)
}
