package authn

import (
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

// Every record has it, here and in what a record holds: one without would lose what a newer version has written.
var _ = []carried{
	Authenticator{}.carried, Passkey{}.carried, RecoveryCode{}.carried,
	Factors{}.carried, Session{}.carried, Ticket{}.carried,
}

// Authentication method references (RFC 8176 2).
const (
	AMRPassword    = "pwd"
	AMRCode        = "otp" // a one-time code, by email or of an app
	AMRMultifactor = "mfa"
	AMRHardware    = "hwk" // a key that is bound to a device
	AMRSoftware    = "swk" // a key that is copied among devices
	AMRPresence    = "user"
)

// MaxPasskeys bounds the passkeys of one user.
const MaxPasskeys = 20

// Wrong codes, of authenticator apps and recovery codes together, that an account has until something happens
// (decision 97). They do not decay: a right factor alone, or an operator, begins the count anew.
const (
	WrongCodesTold = 5   // at this number, and at each multiple of it, the user is told by email
	WrongCodesRest = 20  // from here on the codes of an app rest: see storage.Factors.CodesRest
	WrongCodesMost = 100 // from here on no code is taken: see storage.Factors.CodesStopped
)

// Authenticator is an app that shows one-time codes (RFC 6238).
type Authenticator struct {
	LastStep  int64     `json:"last_step,omitempty"` // of the last code that was accepted: no earlier one is
	CreatedAt time.Time `json:"created_at,omitzero"`
	UsedAt    time.Time `json:"used_at,omitzero"`
	carried
}

// Passkey is a WebAuthn credential.
type Passkey struct {
	ID         string    `json:"id"`   // of the credential, base64url without padding
	Name       string    `json:"name"` // as its user calls it
	Credential string    `json:"credential"`
	Synced     bool      `json:"synced,omitempty"` // copied among its user's devices, so not bound to one
	CreatedAt  time.Time `json:"created_at"`
	UsedAt     time.Time `json:"used_at,omitzero"`
	carried
}

// RecoveryCode is a code that stands for a lost factor, once.
type RecoveryCode struct {
	Hash   string    `json:"hash"`
	UsedAt time.Time `json:"used_at,omitzero"`
	carried
}

// Policies of second factors, each stricter than the one before.
const (
	MFAOff      = "off"      // not offered; whoever has one is asked for it
	MFAOffered  = "offered"  // users may add one, and are asked for it then
	MFARequired = "required" // users have to add one
)

// CheckMFA returns what is wrong with a policy. An empty one leaves the decision to others.
func CheckMFA(policy string) error {
	switch policy {
	case "", MFAOff, MFAOffered, MFARequired:
		return nil
	}
	return fmt.Errorf("%w: mfa: %q is neither off, offered nor required", driver.ErrInvalid, policy)
}
