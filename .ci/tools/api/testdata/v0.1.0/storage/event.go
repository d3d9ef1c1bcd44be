package event // import "github.com/keystile/keystile/storage/event"

import "net/netip"
import "time"

const Account = "account"

const Admin = "admin"

const Call = "call"

const Client = "client"

const Consent = "consent"

const DetailClaims = "claims of the host left out of "

const DetailNoPKCE = "authorization_code without PKCE"

const DetailNotAdmitted = "the user may not use the application"

const DetailPlainKey = " plain"

const DetailRepeated = "repeated under its Idempotency-Key, not charged again"

const DetailShadow = "let through over the rate of "

const DetailSigned = " signed"

type Entry struct {
	Seq uint64 "json:\"seq\""
	Event
}

type Event struct {
	At        time.Time     "json:\"at\""
	Kind      string        "json:\"kind,omitempty\""
	RequestID string        "json:\"request_id,omitempty\""
	App       string        "json:\"app,omitempty\""
	User      string        "json:\"user,omitempty\""
	Actors    []string      "json:\"act,omitempty\""
	Product   string        "json:\"product,omitempty\""
	Method    string        "json:\"method,omitempty\""
	Path      string        "json:\"path,omitempty\""
	IP        string        "json:\"ip,omitempty\""
	Detail    string        "json:\"detail,omitempty\""
	Status    int           "json:\"status,omitempty\""
	Latency   time.Duration "json:\"latency_ns,omitempty\""
	Bytes     int64         "json:\"bytes,omitempty\""
	Count     int64         "json:\"count,omitempty\""
	Span      time.Duration "json:\"span_ns,omitempty\""
	Anonymous bool          "json:\"-\""
	Route     string        "json:\"-\""
}

func (*Event) ActedBy(agent string) bool

const Legacy = "legacy"

const Limit = "limit"

const MaxActors = 10

const MaxApps = 100

const MaxLimit = 500

type Notice struct {
	Kind       string
	App        string
	Capability string
	Detail     string
	At         time.Time
	IP         netip.Addr
	Agent      string
}

const NoticeAccount = "account"

const NoticeApp = "app"

const NoticeDeleted = "deleted"

const NoticeRole = "role"

const NoticeSecret = "secret"

const NoticeSignIn = "sign-in"

const NoticeSignInMethod = "way-in"

const NoticeTools = "tools"

type Page struct {
	Entries []Entry   "json:\"entries\""
	Next    uint64    "json:\"next\""
	Stopped bool      "json:\"stopped\""
	Reached time.Time "json:\"reached,omitzero\""
}

type Query struct {
	From      time.Time
	To        time.Time
	App       string
	Apps      []string
	User      string
	Agent     string
	Kind      string
	RequestID string
	IP        string
	Status    string
	Before    uint64
	Limit     int
}

const Registration = "registration"

const Revocation = "revocation"

const SignIn = "signin"

const Token = "token"

const ToolCall = "tool"

type TrailReport struct {
	Records  uint64
	Broken   uint64
	Breaks   []string
	Lost     uint64
	Repeated uint64
	Heads    []string
}

type TrailState struct {
	Appended uint64
	Waiting  uint64
	Lost     uint64
	Removed  uint64
	Through  uint64
	Until    time.Time
	Since    time.Time
	Forged   bool
}
