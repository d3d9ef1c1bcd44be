package adminapi

import (
	"time"

	"github.com/keystile/keystile/storage"
)

// AppRecord shows an application as its owner sees it (decision 29, protocol 2.8).
type AppRecord struct {
	ClientID      string       `json:"client_id"`
	ClientSecret  string       `json:"client_secret,omitempty"` // once: when it is made
	Name          string       `json:"name"`
	Domains       []string     `json:"domains"`
	RedirectURIs  []string     `json:"redirect_uris"`
	LogoutURI     string       `json:"backchannel_logout_uri"` // "": it is not told of the end of sessions
	Public        bool         `json:"public"`
	IDTokenAlg    string       `json:"id_token_alg"`
	LegacyCode    int          `json:"legacy_success_code"`
	Brand         *brandRecord `json:"brand"` // null: Keystile's own look
	Tier          string       `json:"tier"`
	TierExpiresAt *string      `json:"tier_expires_at"` // null: no end is agreed on
	FirstParty    bool         `json:"first_party"`
	MFA           string       `json:"mfa"`            // required: its users need a second factor; "", off or offered: what the service asks
	DPoP          string       `json:"dpop"`           // off, allowed or required: whether its tokens are bound to a key
	Held          []string     `json:"held,omitempty"` // fields that an operator has set, and only operators change
	Disabled      bool         `json:"disabled"`
	Secrets       []secretSpan `json:"secrets"`
	CreatedAt     string       `json:"created_at"`
	UpdatedAt     string       `json:"updated_at"`
}

// brandRecord shows a brand: the look of the sign-in pages where the tier allows it
// (protocol 8).
type brandRecord struct {
	Name  string `json:"name"`
	Logo  string `json:"logo"`
	Color string `json:"color"`
}

// secretSpan shows how long a secret is valid, never the secret.
type secretSpan struct {
	CreatedAt string  `json:"created_at"`
	ExpiresAt *string `json:"expires_at"` // null: it does not
}

// RecordOf makes the AppRecord of an application, without its secret.
func RecordOf(a storage.App, now time.Time) AppRecord {
	v := AppRecord{
		ClientID: a.ID, Name: a.Name, Domains: append([]string{}, a.Domains...),
		RedirectURIs: append([]string{}, a.RedirectURIs...),
		LogoutURI:    a.BackchannelLogoutURI, Public: a.Public, IDTokenAlg: a.SignsIDTokensWith(),
		LegacyCode: a.SuccessCode(),
		Tier:       a.TierAt(now), TierExpiresAt: Stamp(a.TierUntil(now)),
		FirstParty: a.FirstParty, MFA: a.MFA, DPoP: a.KeyBinding(), Held: a.Held, Disabled: a.Disabled,
		Secrets:   []secretSpan{},
		CreatedAt: a.CreatedAt.UTC().Format(ISO8601), UpdatedAt: a.UpdatedAt.UTC().Format(ISO8601),
	}
	if b := a.Brand; b != nil {
		v.Brand = &brandRecord{b.Name, b.Logo, b.Color}
	}
	for _, s := range a.Secrets {
		if s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt) {
			v.Secrets = append(v.Secrets, secretSpan{s.CreatedAt.UTC().Format(ISO8601), Stamp(s.ExpiresAt)})
		}
	}
	return v
}

// RevealedOf is RecordOf with the newest secret, for the one answer that shows it.
func RevealedOf(a storage.App, now time.Time) AppRecord {
	v := RecordOf(a, now)
	v.ClientSecret = a.AppKey().Reveal()
	return v
}

// Deleted is the answer for a deleted application.
type Deleted struct {
	ClientID string `json:"client_id"`
	Deleted  bool   `json:"deleted"`
}

// DeletedOf makes the Deleted of an application.
func DeletedOf(a storage.App) Deleted { return Deleted{a.ID, true} }

// ISO8601 is the format of times, always in UTC.
const ISO8601 = "2006-01-02T15:04:05Z"

// Stamp writes a time, nil for none.
func Stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(ISO8601)
	return &text
}
