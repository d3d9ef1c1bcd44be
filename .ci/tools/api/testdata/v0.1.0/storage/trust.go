package trust // import "github.com/keystile/keystile/storage/trust"

import "encoding/json"
import "github.com/keystile/keystile/internal/record/forward"
import "time"

const IDJAG = "id-jag"

type Issuer struct {
	Issuer       string    "json:\"issuer\""
	JWKSURI      string    "json:\"jwks_uri,omitempty\""
	Use          string    "json:\"use\""
	Audience     string    "json:\"audience,omitempty\""
	Create       bool      "json:\"create,omitempty\""
	Scopes       []string  "json:\"scopes,omitempty\""
	Rules        []Rule    "json:\"rules,omitempty\""
	AllowPrivate []string  "json:\"allow_private,omitempty\""
	CreatedAt    time.Time "json:\"created_at,omitzero\""
	UpdatedAt    time.Time "json:\"updated_at,omitzero\""
	Version      int64     "json:\"-\""
	carried
}

func (Issuer) Check() error
func (Issuer) Clone() Issuer

const MaxIssuer = 255

const MaxRules = 100

func Parse(text []byte) ([]Issuer, error)

func ParseRules(text []byte) (rules []Rule, err error)

type Rule struct {
	Subject  string         "json:\"subject\""
	Claims   map[string]any "json:\"claims,omitempty\""
	ClientID string         "json:\"client_id\""
}

func (Rule) Matches(sub string, claims map[string]json.RawMessage) bool

const Workload = "workload"

type carried = forward.Fields
