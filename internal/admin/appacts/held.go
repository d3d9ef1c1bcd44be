package appacts

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/client"
)

// field is one that both an owner and an operator write.
type field struct {
	name string
	same func(before, after storage.App) bool
	// holds reports whether a change by an operator restricts, so that the owner may not take it back.
	holds func(before, after storage.App) bool
	// frees reports whether an operator has set what restricts nothing.
	frees func(after storage.App) bool
}

func never(storage.App) bool { return false }

// fields are all that an owner can change. A change that restricts nothing is held only if an operator says so.
var fields = []field{
	{"name", func(b, a storage.App) bool { return a.Name == b.Name }, changed, never},
	{"domains", func(b, a storage.App) bool { return slices.Equal(b.Domains, a.Domains) }, func(b, a storage.App) bool {
		return lacks(a.Domains, b.Domains)
	}, never},
	{"redirect_uris", func(b, a storage.App) bool { return slices.Equal(b.RedirectURIs, a.RedirectURIs) },
		func(b, a storage.App) bool {
			return len(a.RedirectURIs) > 0 && (len(b.RedirectURIs) == 0 || lacks(a.RedirectURIs, b.RedirectURIs))
		}, func(a storage.App) bool { return len(a.RedirectURIs) == 0 }},
	{"backchannel_logout_uri", func(b, a storage.App) bool { return b.BackchannelLogoutURI == a.BackchannelLogoutURI },
		func(_, a storage.App) bool {
			return a.BackchannelLogoutURI == ""
		}, func(a storage.App) bool { return a.BackchannelLogoutURI != "" }},
	{"id_token_alg", func(b, a storage.App) bool { return b.SignsIDTokensWith() == a.SignsIDTokensWith() },
		func(_, a storage.App) bool {
			return a.SignsIDTokensWith() != "HS256"
		}, func(a storage.App) bool { return a.SignsIDTokensWith() == "HS256" }},
	{"legacy_success_code", func(b, a storage.App) bool { return b.SuccessCode() == a.SuccessCode() }, nil, never},
	{"brand", sameBrand, changed, never},
	{"mfa", func(b, a storage.App) bool { return b.MFA == a.MFA },
		func(_, a storage.App) bool { return a.MFA == authn.MFARequired },
		func(a storage.App) bool { return a.MFA != authn.MFARequired }},
	{"dpop", func(b, a storage.App) bool { return b.KeyBinding() == a.KeyBinding() },
		func(_, a storage.App) bool { return a.DPoP == storage.DPoPRequired },
		func(a storage.App) bool { return a.DPoP != storage.DPoPRequired }},
}

func changed(_, _ storage.App) bool { return true }

// lacks reports whether a list has not all of another one.
func lacks(list, all []string) bool {
	return slices.ContainsFunc(all, func(one string) bool { return !slices.Contains(list, one) })
}

// private returns the redirect_uris of an application that no domain of it restricts.
func private(a storage.App) (uris []string) {
	for _, uri := range a.RedirectURIs {
		if _, ok := client.PrivateScheme(uri); ok {
			uris = append(uris, uri)
		}
	}
	return uris
}

func sameBrand(b, a storage.App) bool {
	if b.Brand == nil || a.Brand == nil {
		return b.Brand == a.Brand
	}
	return *b.Brand == *a.Brand
}

// Holdable returns the names of the fields that an operator can keep an owner from changing.
func Holdable() (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// hold writes down which fields the owner does not change from now on. Unknown names are an error.
func hold(a *storage.App, names []string) error {
	for _, name := range names {
		if !slices.Contains(Holdable(), name) {
			return fmt.Errorf("%w: held: %q is none of the fields that an owner changes: %s", storage.ErrInvalid, name,
				strings.Join(Holdable(), ", "))
		}
	}
	held := slices.Clone(names)
	slices.Sort(held)
	a.Held = slices.Compact(held)
	return nil
}

// byOperator writes down what an operator's change of an application keeps from its owner: sent names the fields that
// were set, to what they were or to something else. A second factor or a key that is required, a name or a brand that
// is another, a domain or an address less, and an algorithm without the appkey are held; an operator who sets what
// restricts nothing frees it. Of an application that is new to its owner these are the second factor and the key alone,
// and of one that is nobody's nothing.
func byOperator(before storage.App, after *storage.App, sent ...string) {
	held, given := slices.Clone(after.Held), before.Owner != after.Owner
	for _, f := range fields {
		set := slices.Contains(sent, f.name) || given || !f.same(before, *after)
		switch {
		case after.Owner == "" || !set || f.holds == nil:
		case f.holds(before, *after) && (f.name == "mfa" || f.name == "dpop" || !given && !f.same(before, *after)):
			held = append(held, f.name)
		case f.frees(*after):
			held = slices.DeleteFunc(held, func(name string) bool { return name == f.name })
		}
	}
	slices.Sort(held)
	after.Held = slices.Compact(held)
	if slices.Contains(sent, "backchannel_logout_uri") || before.BackchannelLogoutURI != after.BackchannelLogoutURI {
		after.OperatorLogoutURI = after.BackchannelLogoutURI
	}
}

// byOwner returns a *Denied if a change of an application is not for its owner to make: a field that an operator
// holds, or to be told in a private network.
func byOwner(before, after storage.App) error {
	for _, f := range fields {
		if slices.Contains(before.Held, f.name) && !f.same(before, after) {
			return &Denied{f.name, "an operator has set it, so only an operator changes it: ask one, or leave it out"}
		}
	}
	if slices.Contains(before.Held, "domains") && lacks(private(before), private(after)) {
		return &Denied{"redirect_uris",
			"an operator has set the domains, so only an operator adds an address of a private-use scheme: ask one, or leave " +
				"it out"}
	}
	if after.BackchannelLogoutURI == before.BackchannelLogoutURI || after.BackchannelLogoutURI == "" {
		return nil
	}
	if u, err := url.Parse(after.BackchannelLogoutURI); err != nil || netguard.Inside(u) {
		return &Denied{"backchannel_logout_uri", "the address is of this machine or of a private network: ask an " +
			"administrator to set it in the console, or give a public one"}
	}
	return nil
}
