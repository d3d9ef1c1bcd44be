package authn // import "github.com/keystile/keystile/storage/authn"

import "github.com/keystile/keystile/storage/internal/forward"
import "time"

const AMRCode = "otp"

const AMRHardware = "hwk"

const AMRMultifactor = "mfa"

const AMRPassword = "pwd"

const AMRPresence = "user"

const AMRSoftware = "swk"

type Authenticator struct {
	LastStep  int64     "json:\"last_step,omitempty\""
	CreatedAt time.Time "json:\"created_at,omitzero\""
	UsedAt    time.Time "json:\"used_at,omitzero\""
	carried
}

func CheckMFA(policy string) error

const MFAOff = "off"

const MFAOffered = "offered"

const MFARequired = "required"

const MaxPasskeys = 20

type Passkey struct {
	ID         string    "json:\"id\""
	Name       string    "json:\"name\""
	Credential string    "json:\"credential\""
	Synced     bool      "json:\"synced,omitempty\""
	CreatedAt  time.Time "json:\"created_at\""
	UsedAt     time.Time "json:\"used_at,omitzero\""
	carried
}

type Policy struct {
	Default string
	Roles   map[string]string
	Grace   time.Duration
}

func (Policy) Check() error
func (Policy) DueAt(since time.Time) time.Time
func (Policy) Of(role string) string

type RecoveryCode struct {
	Hash   string    "json:\"hash\""
	UsedAt time.Time "json:\"used_at,omitzero\""
	carried
}

type carried = forward.Fields
