package handle // import "github.com/keystile/keystile/storage/handle"

import "github.com/keystile/keystile/storage/driver"
import "time"

const APIKeyPattern = "\\bks_[0-9A-Za-z_-]{32}[0-9A-Za-z]{6}\\b"

func Derived(prefix string, at time.Time, secret [24]byte) string

func GrantTime(grant string) time.Time

func Hash(cookie string) string

func HashInvitation(code string) string

func IsAPIKey(text string) bool

func KeyOf(handle string) (k driver.Key)

func LooksLikeAPIKey(text string) bool

func New(prefix string, at time.Time) string

func NewAPIKey() string

func NewAppID() string

func NewClientID() string

func NewCookie() string

func NewGrant(at time.Time) string

func NewInvitation() string

func NewOrderID(at time.Time) string

const RefreshPrefix = "rt_"
