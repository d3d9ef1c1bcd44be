package appacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// Change says what changes of an application. A nil field stays as it is.
type Change struct {
	Name                 *string
	Domains              List // in any form that storage.NormalizeDomain takes
	RedirectURIs         List
	BackchannelLogoutURI *string
	IDTokenAlg           *string
	LegacySuccessCode    *int
	Brand                Brand
	MFA                  *string
	DPoP                 *string // storage.DPoPOff, DPoPAllowed or DPoPRequired

	// Administrators alone change these.
	FirstParty        *bool
	Disabled          *bool
	AllowHTTPRedirect *bool
	ForbidPlain       *bool
	ForbidPlainKey    *bool
	LegacyNested      *bool
	Owner             *string  // a user's sub or group:NAME; "" is nobody
	Held              []string // the fields that the owner does not change, instead of those that are held now

	// The subjects that may use it, and those that may not, instead of those there are (decision 115). Users are named
	// by sub.
	Allow  []string // everyone alone is everybody
	Deny   []string // none of them: nobody is denied
	Learns Learns
	Proves Proves
}

// NewApp says what a new application is.
type NewApp struct {
	Change
	Public bool
	Tier   *string // an administrator's to set; nil is storage.TierFree
}

// List says how a list of texts changes: Instead, which is not nil, replaces it, and what there is then is added to
// and taken from.
type List struct{ Instead, Add, Remove []string }

// Brand says how the look of an application's pages changes. A brand that says nothing is none.
type Brand struct{ Name, Logo, Color *string }

// reserved refuses an actor who is no administrator what only administrators set, whatever it is set to.
func (n NewApp) reserved(by admin.Actor) error {
	if by.Admin() == nil {
		return nil
	}
	for _, f := range []struct {
		name string
		sent bool
	}{
		{"first_party", n.FirstParty != nil}, {"disabled", n.Disabled != nil}, {"owner", n.Owner != nil},
		{"allow_http_redirect", n.AllowHTTPRedirect != nil}, {"forbid_plain", n.ForbidPlain != nil}, {"held", n.Held != nil},
		{"forbid_plain_key", n.ForbidPlainKey != nil}, {"legacy_nested", n.LegacyNested != nil}, {"tier", n.Tier != nil},
		{"allow", n.Allow != nil}, {"deny", n.Deny != nil}, {"group_filter", n.Learns.GroupFilter != nil},
		{"groups_in_access_token", n.Learns.GroupsInAccessToken != nil}, {"claims", n.Learns.Claims != nil},
		{"jwks", n.Proves.Keys != nil}, {"jwks_uri", n.Proves.KeysURL != nil},
		{"keep_secret", n.Proves.KeepSecret != nil}, {"exchange", n.Proves.Exchange != nil},
		{"exchange_for", n.Proves.ExchangeFor != nil},
	} {
		if f.sent {
			return adminOnly.Saying(f.name + " is an administrator's to set: leave it out")
		}
	}
	return nil
}

// amend changes an application as far as that is for the actor to do. A field that an administrator restricts is kept
// from the owner; Held, where it is sent, decides which others are.
func (a *Acts) amend(ctx context.Context, by admin.Actor, c Change, app *storage.App) error {
	if err := (NewApp{Change: c}).reserved(by); err != nil {
		return err
	}
	if c.Owner != nil && *c.Owner != "" {
		if err := a.knownOwner(ctx, *c.Owner); err != nil {
			return err
		}
	}
	before := *app
	if err := cmp.Or(c.apply(app), c.Proves.apply(app), a.admit(ctx, c, app), a.known(ctx, c.Proves)); err != nil {
		return err
	}
	if c.administers() {
		keep(app, time.Now())
	}
	if app.ID == "" && len(app.Domains)+len(app.RedirectURIs) == 0 {
		return errNowhere
	}
	if by.Admin() != nil {
		return byOwner(before, *app)
	}
	var meant []string
	if c.MFA != nil {
		meant = append(meant, "mfa")
	}
	if c.DPoP != nil {
		meant = append(meant, "dpop")
	}
	if c.BackchannelLogoutURI != nil && by.Operator != "" { // a form sends all it has: there only a change counts
		meant = append(meant, "backchannel_logout_uri")
	}
	byOperator(before, app, meant...)
	if c.Held == nil {
		return nil
	}
	return hold(app, c.Held)
}

// knownOwner refuses an owner who is no user. A group is looked for in the step that gives it something.
func (a *Acts) knownOwner(ctx context.Context, owner string) error {
	if _, is := access.OwningGroup(owner); is {
		return nil
	}
	_, err := a.c.Store.User(ctx, owner)
	if errors.Is(err, storage.ErrNotFound) {
		err = noOwner
	}
	return err
}

// apply writes a change into an application. Lists and what is behind a pointer are replaced, never written to: an
// earlier copy stays as it was.
func (c Change) apply(app *storage.App) error {
	set(&app.Name, c.Name)
	set(&app.BackchannelLogoutURI, c.BackchannelLogoutURI)
	set(&app.IDTokenAlg, c.IDTokenAlg)
	set(&app.MFA, c.MFA)
	set(&app.DPoP, c.DPoP)
	set(&app.Owner, c.Owner)
	set(&app.FirstParty, c.FirstParty)
	set(&app.Disabled, c.Disabled)
	set(&app.AllowHTTPRedirect, c.AllowHTTPRedirect)
	set(&app.ForbidPlain, c.ForbidPlain)
	set(&app.ForbidPlainKey, c.ForbidPlainKey)
	set(&app.LegacyNested, c.LegacyNested)
	if c.LegacySuccessCode != nil {
		app.LegacySuccessCode = new(*c.LegacySuccessCode)
	}
	app.Brand = c.Brand.of(app.Brand)
	c.Learns.apply(app)
	domains, err := c.Domains.of("domains", app.Domains, storage.NormalizeDomain)
	asSent := func(uri string) (string, error) { return uri, nil }
	uris, failed := c.RedirectURIs.of("redirect_uris", app.RedirectURIs, asSent)
	app.Domains, app.RedirectURIs = domains, uris
	return errors.Join(err, failed)
}

func set[T any](at, to *T) {
	if to != nil {
		*at = *to
	}
}

// of returns what a brand changes to.
func (c Brand) of(now *storage.Brand) *storage.Brand {
	var b storage.Brand
	set(&b, now)
	set(&b.Name, c.Name)
	set(&b.Logo, c.Logo)
	set(&b.Color, c.Color)
	if b == (storage.Brand{}) {
		return nil
	}
	return &b
}

// of returns what a list changes to, each text in its normal form and once. Taking away what is not there is a mistake:
// most likely it is written in another way.
func (l List) of(name string, now []string, normal func(string) (string, error)) ([]string, error) {
	var errs []error
	normalized := func(texts []string) (all []string) {
		for _, typed := range texts {
			text, err := normal(typed)
			errs = append(errs, err)
			if err == nil && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		return all
	}
	if l.Instead != nil {
		now = normalized(l.Instead)
	}
	rest := slices.Clone(now)
	for _, text := range normalized(l.Add) {
		if !slices.Contains(rest, text) {
			rest = append(rest, text)
		}
	}
	for _, text := range normalized(l.Remove) {
		i := slices.Index(rest, text)
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s: remove %q: it is not there; there is: %q", name, text, rest))
			continue
		}
		rest = slices.Delete(rest, i, i+1)
	}
	if err := errors.Join(errs...); err != nil {
		return now, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	return rest, nil
}
