package appacts

import (
	"reflect"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage"
)

// grave names the changes of an application that its owner is notified of: those by which
// somebody else could take its users, or it from them. "" is none.
func grave(before, after storage.App) string {
	var what []string
	for _, c := range []struct {
		name    string
		changed bool
	}{
		{"domains", !slices.Equal(before.Domains, after.Domains)},
		{"redirect_uris", !slices.Equal(before.RedirectURIs, after.RedirectURIs)},
		{"backchannel_logout_uri", before.BackchannelLogoutURI != after.BackchannelLogoutURI},
		{"first_party", before.FirstParty != after.FirstParty},
		{"allow_http_redirect", before.AllowHTTPRedirect != after.AllowHTTPRedirect},
		{"forbid_plain", before.ForbidPlain != after.ForbidPlain},
		{"mfa", before.MFA != after.MFA},
		{"dpop", before.KeyBinding() != after.KeyBinding()},
		{"disabled", before.Disabled != after.Disabled},
		{"allow, deny", !reflect.DeepEqual(before.Admission, after.Admission)},
		{"groups", before.GroupsInAccessToken != after.GroupsInAccessToken ||
			!slices.Equal(before.GroupFilter, after.GroupFilter)},
		{"claims", !reflect.DeepEqual(before.Claims, after.Claims)},
		{"jwks", !reflect.DeepEqual(before.Keys, after.Keys)},
		{"exchange", before.Exchange != after.Exchange || !slices.Equal(before.ExchangeFor, after.ExchangeFor)},
		{"owner", before.Owner != after.Owner},
	} {
		if c.changed {
			what = append(what, c.name)
		}
	}
	return strings.Join(what, ", ")
}
