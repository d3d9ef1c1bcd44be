package passkey

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// maxHandle bounds a user handle, in bytes (WebAuthn 4).
const maxHandle = 64

// PartyOf returns the relying party of a service with an origin, nil if browsers know no passkeys there.
func PartyOf(base string) *webauthn.WebAuthn {
	u, err := url.Parse(base)
	if err != nil || !named(u) {
		return nil
	}
	w, err := webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: u.Host, RPOrigins: []string{base},
		AttestationPreference: protocol.PreferNoAttestation,
	})
	if err != nil {
		return nil
	}
	return w
}

// NamedBase returns the origin with a name by which a service on this machine would have passkeys, "" if it has them
// or is elsewhere.
func NamedBase(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" {
		return ""
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
		return ""
	}
	u.Host = "localhost:" + cmp.Or(u.Port(), "80")
	return u.Scheme + "://" + strings.TrimSuffix(u.Host, ":80")
}

// named reports whether an address is a secure context (https, or this machine) whose host has a name.
func named(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || strings.HasSuffix(host, ".localhost"))
}

// owner is a user as the library knows them: with their passkeys.
type owner struct {
	user     storage.User
	passkeys []webauthn.Credential
}

func ownerOf(u storage.User, f storage.Factors) (o owner, err error) {
	o.user = u
	for _, p := range f.Passkeys {
		c, err := credentialOf(p)
		if err != nil {
			return o, err
		}
		o.passkeys = append(o.passkeys, c)
	}
	return o, nil
}

func (o owner) WebAuthnID() []byte                         { return []byte(o.user.Sub) }
func (o owner) WebAuthnName() string                       { return o.user.Username }
func (o owner) WebAuthnDisplayName() string                { return o.user.Username }
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.passkeys }

func credentialOf(p authn.Passkey) (c webauthn.Credential, err error) {
	err = json.Unmarshal([]byte(p.Credential), &c)
	return c, err
}

func keep(p *authn.Passkey, c webauthn.Credential) error {
	c.Attestation = webauthn.CredentialAttestation{} // nothing is done with it
	text, err := json.Marshal(c)
	p.Credential, p.Synced = string(text), c.Flags.BackupState
	return err
}

// amrOf returns how a passkey authenticates its user.
func amrOf(c webauthn.Credential) []string {
	key := authn.AMRHardware
	if c.Flags.BackupEligible || c.Flags.BackupState {
		key = authn.AMRSoftware
	}
	return []string{key, authn.AMRPresence}
}

func replace(all []authn.Passkey, with authn.Passkey) []authn.Passkey {
	all = slices.Clone(all)
	for i := range all {
		if all[i].ID == with.ID {
			all[i] = with
		}
	}
	return all
}
