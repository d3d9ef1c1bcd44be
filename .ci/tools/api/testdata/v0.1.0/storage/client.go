package client // import "github.com/keystile/keystile/storage/client"

import "encoding/json"
import "github.com/keystile/keystile/internal/record/forward"
import "time"

const AuthNone = "none"

const AuthPrivateKeyJWT = "private_key_jwt"

func CheckHost(host string) error

func CheckRedirect(raw string) error

const Denied = "denied"

type Description struct {
	Kind         string          "json:\"kind\""
	RedirectURIs []string        "json:\"redirect_uris\""
	Grants       []string        "json:\"grants\""
	AuthMethod   string          "json:\"auth_method\""
	Keys         json.RawMessage "json:\"keys,omitempty\""
	KeysURL      string          "json:\"keys_url,omitempty\""
	KeysRead     time.Time       "json:\"keys_read,omitzero\""
	FetchedAt    time.Time       "json:\"fetched_at,omitzero\""
	FreshUntil   time.Time       "json:\"fresh_until,omitzero\""
	From         string          "json:\"from,omitempty\""
	AccessToken  string          "json:\"access_token,omitempty\""
	KeptAt       time.Time       "json:\"kept_at,omitzero\""
	ExpiresAt    time.Time       "json:\"expires_at,omitzero\""
	carried
}

func (*Description) AllowsRedirect(raw string) error
func (*Description) Clone() *Description

const Document = "document"

const DocumentPrefix = "https://"

const Dynamic = "dynamic"

const DynamicPrefix = "ks-"

type Host struct {
	Host      string    "json:\"host\""
	Denied    bool      "json:\"denied,omitempty\""
	UpdatedAt time.Time "json:\"updated_at\""
	Version   int64     "json:\"-\""
	carried
}

func (Host) Policy() string

func IsID(id string) bool

func IsLoopback(raw string) bool

type Keys struct {
	Set        json.RawMessage "json:\"set,omitempty\""
	URL        string          "json:\"url,omitempty\""
	KeepSecret bool            "json:\"keep_secret,omitempty\""
	carried
}

func (*Keys) Clone() *Keys

const MaxID = 190

const MaxKeys = 16384

func PrivateScheme(raw string) (scheme string, ok bool)

const Trusted = "trusted"

type carried = forward.Fields
