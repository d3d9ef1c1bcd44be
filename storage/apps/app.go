package apps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
)

// App is an application registered here (protocol 2.8): one key, one quota, one owner.
type App struct {
	ID                string      `json:"id"` // client_id, the appid
	Secrets           []AppSecret `json:"secrets,omitempty"`
	Name              string      `json:"name"`
	Domains           []string    `json:"domains"`                 // as NormalizeDomain returns them
	RedirectURIs      []string    `json:"redirect_uris,omitempty"` // if any: only exactly these
	AllowHTTPRedirect bool        `json:"allow_http_redirect,omitempty"`

	// BackchannelLogoutURI names where the application is told of the end of sessions (OpenID Connect
	// Back-Channel Logout 1.0): https, or http on a loopback host, and its host is one of Domains. "": it is not told.
	BackchannelLogoutURI string `json:"backchannel_logout_uri,omitempty"`

	// OperatorLogoutURI is the BackchannelLogoutURI as an operator has last set it. Only while both are the same is a
	// name told that leads into a private network; see oauth.Config.AllowPrivate.
	OperatorLogoutURI string `json:"operator_logout_uri,omitempty"`

	// Held names the fields, as the API does, that an operator has set and the owner does not change.
	Held []string `json:"held,omitempty"`

	Public            bool                `json:"public,omitempty"` // has no secret; PKCE is mandatory
	ForbidPlain       bool                `json:"forbid_plain,omitempty"`
	IDTokenAlg        string              `json:"id_token_alg,omitempty"` // "": HS256, or ES256 if Public
	FirstParty        bool                `json:"first_party,omitempty"`
	DPoP              string              `json:"dpop,omitempty"`                // DPoPAllowed or DPoPRequired of its token requests; "" or DPoPOff: they get bearer tokens
	MFA               string              `json:"mfa,omitempty"`                 // MFAOff, MFAOffered or MFARequired of its users; "": nothing beyond what their roles ask
	Tier              string              `json:"tier"`                          // the first one; TierAt returns the present one
	Tiers             []TierChange        `json:"tiers,omitempty"`               // in the order of time, of the future too
	Order             string              `json:"order,omitempty"`               // the id of the one that is open
	LegacySuccessCode *int                `json:"legacy_success_code,omitempty"` // code of a success at the old endpoints, 0 or 1; nil: 1 (protocol 4)
	ForbidPlainKey    bool                `json:"forbid_plain_key,omitempty"`    // the old endpoints want a signature, not the appkey
	LegacyNested      bool                `json:"legacy_nested,omitempty"`       // their answers are repeated under data
	Brand             *Brand              `json:"brand,omitempty"`               // how its pages look, where the tier allows it
	Owner             string              `json:"owner,omitempty"`               // a user's sub
	Spent             Quota               `json:"spent,omitzero"`                // of its first period, used by applications of its owner that were removed
	Client            *client.Description `json:"client,omitempty"`              // set where nobody registered it here
	Admission         *access.Admission   `json:"admission,omitempty"`           // who may use it; nil: everybody

	GroupFilter         []string     `json:"group_filter,omitempty"`           // patterns of the groups that it learns of; none: all
	GroupsInAccessToken bool         `json:"groups_in_access_token,omitempty"` // its access tokens have them too, as old as they are
	Claims              []claim.Rule `json:"claims,omitempty"`                 // that it learns of its users beside the usual ones

	Keys        *client.Keys `json:"keys,omitempty"`         // by which it proves itself; nil: by its appkey
	Exchange    bool         `json:"exchange,omitempty"`     // it may exchange tokens (RFC 8693): its own, and those of applications that name it
	ExchangeFor []string     `json:"exchange_for,omitempty"` // the other applications that may exchange its tokens, by client_id

	Disabled  bool      `json:"disabled,omitempty"`
	Counted   bool      `json:"counted,omitempty"` // it is among the Apps of Counts: the Store says so
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"-"`
	carried
}

// AppSecret is one appkey. Two may be live while a secret is rotated, never more; the newest is
// first.
type AppSecret struct {
	Secret    secret.Secret `json:"-"`
	CreatedAt time.Time     `json:"created_at"`
	ExpiresAt time.Time     `json:"expires_at,omitzero"`
}

var Apps = document.Kind[App]{
	Name:  "app",
	ID:    func(a App) string { return a.ID },
	Index: App.entries,
	Expires: func(a App) (end time.Time) {
		if a.Client != nil {
			end = a.Client.ExpiresAt
		}
		return end
	},
	Version: func(a *App) *int64 { return &a.Version },
	Clone:   App.clone,
	Secrets: func(a *App) map[string]*secret.Secret {
		sealed := make(map[string]*secret.Secret, len(a.Secrets))
		for i := range a.Secrets {
			sealed[fmt.Sprintf("secret.%d", i)] = &a.Secrets[i].Secret
		}
		return sealed
	},
}

// clone is a copy that shares no memory with a.
func (a App) clone() App {
	a.Secrets, a.Domains, a.RedirectURIs = slices.Clone(a.Secrets), slices.Clone(a.Domains), slices.Clone(a.RedirectURIs)
	a.Tiers, a.Held = slices.Clone(a.Tiers), slices.Clone(a.Held)
	if a.LegacySuccessCode != nil {
		a.LegacySuccessCode = new(*a.LegacySuccessCode)
	}
	if a.Brand != nil {
		a.Brand = new(*a.Brand)
	}
	a.Client, a.Admission = a.Client.Clone(), a.Admission.Clone()
	a.GroupFilter, a.Claims = slices.Clone(a.GroupFilter), slices.Clone(a.Claims)
	for i := range a.Claims {
		a.Claims[i].In = slices.Clone(a.Claims[i].In)
	}
	a.Keys, a.ExchangeFor = a.Keys.Clone(), slices.Clone(a.ExchangeFor)
	return a
}

// Authenticates reports whether text is one of the application's live secrets at a time.
// It compares with each of them, in constant time.
func (a App) Authenticates(text string, at time.Time) bool {
	ok := false
	for _, s := range a.Secrets {
		equal := s.Secret.Equal(text)
		live := s.ExpiresAt.IsZero() || at.Before(s.ExpiresAt)
		ok = ok || equal && live
	}
	return ok && a.TakesSecret()
}

// TakesSecret reports whether the application proves itself by its appkey. One that has Keys does not, unless they say
// so: whoever has read the appkey somewhere could still use it.
func (a App) TakesSecret() bool { return !a.Public && (a.Keys == nil || a.Keys.KeepSecret) }

// AppKey returns the newest secret, which signs HS256 id_tokens.
func (a App) AppKey() secret.Secret {
	if len(a.Secrets) == 0 {
		return secret.Secret{}
	}
	return a.Secrets[0].Secret
}

// SignsIDTokensWith returns the algorithm of the application's id_tokens: HS256 with its
// appkey (OpenID Connect Core 10.1) unless it has asked for another, or its appkey proves nothing.
func (a App) SignsIDTokensWith() string {
	switch {
	case !a.TakesSecret() && (a.IDTokenAlg == "" || a.IDTokenAlg == "HS256"):
		return "ES256"
	case a.IDTokenAlg == "":
		return "HS256"
	}
	return a.IDTokenAlg
}

// SuccessCode returns the code of a success at the old endpoints (protocol 4): 1, or 0 if
// the application has asked for it.
func (a App) SuccessCode() int {
	if a.LegacySuccessCode == nil {
		return 1
	}
	return *a.LegacySuccessCode
}

// Check returns everything that is wrong with an application at once.
func (a App) Check() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if a.Name == "" || len(a.Name) > 200 {
		complain("name: give the application a name of 1 to 200 bytes")
	}
	if len(a.Domains) > 50 || len(a.RedirectURIs) > 50 {
		complain("domains, redirect_uris: at most 50 of each")
	}
	for _, d := range a.Domains {
		if n, err := NormalizeDomain(d); err != nil || n != d {
			complain("domains: %q is not in normal form; use what NormalizeDomain returns", d)
		}
	}
	for _, u := range a.RedirectURIs {
		if err := (App{Domains: a.Domains, RedirectURIs: a.RedirectURIs, AllowHTTPRedirect: a.AllowHTTPRedirect,
			Public: a.Public}).AllowsRedirect(u); err != nil {
			complain("redirect_uris: %q: %w", u, err)
		}
	}
	if err := a.checkLogoutURI(); err != nil {
		complain("backchannel_logout_uri: %w", err)
	}
	if isBuiltIn(a.ID) {
		errs = append(errs, errBuiltIn(a.ID))
	}
	errs = append(errs, a.checkClient()...)
	errs = append(errs, a.checkKeys()...)
	errs = append(errs, a.Admission.Check(), claim.Check(a.Claims), a.checkFilter())
	if err := a.checkTiers(); err != nil {
		errs = append(errs, err)
	}
	switch a.IDTokenAlg {
	case "", "ES256", "RS256", "EdDSA":
	case "HS256":
		if a.Public {
			complain("id_token_alg: a public application has no secret for HS256; use ES256")
		}
	default:
		complain("id_token_alg: %q is none of HS256, ES256, RS256, EdDSA", a.IDTokenAlg)
	}
	if err := checkDPoP(a.DPoP); err != nil {
		complain("%w", err)
	}
	if err := authn.CheckMFA(a.MFA); err != nil {
		complain("%w", err)
	}
	if a.Brand != nil {
		if err := a.Brand.check(); err != nil {
			complain("%w", err)
		}
	}
	if c := a.LegacySuccessCode; c != nil && *c != 0 && *c != 1 {
		complain("legacy_success_code: %d is neither 0 nor 1", *c)
	}
	if a.Public && a.ForbidPlainKey {
		complain("forbid_plain_key: a public application has no appkey to sign with")
	}
	if a.Public != (len(a.Secrets) == 0) {
		complain("an application has a secret unless it is public")
	}
	for _, s := range a.Secrets {
		if n := len(s.Secret.Reveal()); n < 32 {
			complain("secret: %d bytes; at least 32 are needed to sign with HS256", n)
		}
	}
	return errors.Join(errs...)
}

// App returns an application, or ErrNotFound. Those of API keys (KeysAppID) and of the console (ConsoleAppID) are
// built in: they are on no list.
func (s *Store) App(ctx context.Context, id string) (App, error) {
	if app, ok := builtIn[id]; ok {
		return app, nil
	}
	return document.Get(ctx, s.docs, Apps, id)
}

// SaveApp checks and writes an application. An application without ID is created: it gets
// an ID and, unless it is public or has one already, a secret.
func (s *Store) SaveApp(ctx context.Context, a App) (App, error) {
	a, err := a.Complete(time.Now().UTC())
	if err != nil {
		return a, err
	}
	return s.putApp(ctx, a)
}

// Complete fills in the defaults of a new application, and checks it.
func (a App) Complete(now time.Time) (App, error) {
	if a.Version == 0 {
		if a.ID == "" {
			a.ID = handle.NewAppID()
		}
		if !a.Public && len(a.Secrets) == 0 {
			a.Secrets = []AppSecret{{Secret: secret.Draw(), CreatedAt: now}}
		}
		if a.Tier == "" {
			a.Tier = TierFree
		}
		a.CreatedAt = now
	}
	a.UpdatedAt = now
	if err := a.Check(); err != nil {
		return a, fmt.Errorf("%w: application: %w", document.ErrInvalid, err)
	}
	return a, nil
}

// Apps returns a page of applications: all of them, or those of one owner (a sub).
func (s *Store) Apps(ctx context.Context, owner, from string, n int) ([]App, string, error) {
	return document.List(ctx, s.docs, Apps, ownedSpan(owner, from), n)
}
