package access // import "github.com/keystile/keystile/storage/access"

import "github.com/keystile/keystile/internal/record/forward"
import "time"

type Admission struct {
	Allow []string  "json:\"allow,omitempty\""
	Deny  []string  "json:\"deny,omitempty\""
	Since time.Time "json:\"since,omitzero\""
	carried
}

func (*Admission) Admits(v Viewer) bool
func (*Admission) Check() error
func (*Admission) Clone() *Admission
func (*Admission) Lists() (allow []string, deny []string)
func (*Admission) NeedsGroups() bool

type Bundle struct {
	Name        string    "json:\"name\""
	Label       string    "json:\"label,omitempty\""
	Description string    "json:\"description,omitempty\""
	Tools       []string  "json:\"tools\""
	Rules       []Rule    "json:\"rules,omitempty\""
	CreatedAt   time.Time "json:\"created_at\""
	UpdatedAt   time.Time "json:\"updated_at\""
	Version     int64     "json:\"-\""
	carried
}

func (Bundle) Access() List
func (Bundle) Check() error
func (Bundle) Knew(since time.Time) bool

func CheckUsers(list []string) error

const DefaultEveryone = "everyone"

const DefaultOwner = "owner"

type Group struct {
	Name  string
	Since time.Time
}

func (Group) KnownTo(written time.Time) bool
func (Group) Subject() Subject

const GroupNameForm = "1 to 63 of a-z 0-9 . _ -, the first a letter or digit"

func IsBundleName(text string) bool

func IsGroupName(text string) bool

type List struct {
	Member    string    "json:\"member\""
	Rules     []Rule    "json:\"rules\""
	UpdatedAt time.Time "json:\"updated_at\""
	Version   int64     "json:\"-\""
	carried
}

func (List) Check() error

const MaxBundleTools = 1000

const MaxBundles = 1000

const MaxOfferedBundles = 20

const MaxOfferedMembers = 20

const MaxOfferedTools = 200

const MaxRules = 2000

type Offer struct {
	Members  []OfferedMember
	Bundles  []OfferedBundle
	Tools    int
	ReadOnly int
	Hidden   int
}

type OfferedBundle struct {
	Name  string
	Label string
	Count int
}

type OfferedMember struct {
	Name  string
	Label string
	Tools []OfferedTool
	Count int
	Whole bool
}

type OfferedTool struct {
	Name        string
	Description string
	ReadOnly    bool
}

const OwnUsers = "users"

func OwningGroup(owner string) (name string, is bool)

func ParseSubject(text string) (Subject, error)

type Rule struct {
	Subject  string   "json:\"subject\""
	Deny     bool     "json:\"deny,omitempty\""
	Tools    []string "json:\"tools,omitempty\""
	ReadOnly bool     "json:\"read_only,omitempty\""
	Operator bool     "json:\"operator,omitempty\""
}

func (Rule) Same(other Rule) bool

const SignUpClosed = "closed"

const SignUpInvitation = "invitation"

const SignUpOpen = "open"

type Subject struct {
	Kind string
	Name string
}

func (Subject) String() string

const SubjectApp = "app"

const SubjectEveryone = "everyone"

const SubjectGroup = "group"

const SubjectRole = "role"

const SubjectTier = "tier"

const SubjectUser = "user"

type Verdict struct {
	Tool    string
	Allowed bool
	Rule    *Rule
	Because string
}

type Viewer struct {
	User   string
	Role   string
	App    string
	Tier   string
	Groups []Group
}

type Way struct {
	Method string "json:\"method\""
	SignUp string "json:\"signup\""
}

type Ways []Way

func (Ways) CheckInvitation() error
func (Ways) Default() string
func (Ways) Invited() []string
func (Ways) Methods() (all []string)
func (Ways) NotClosed() Ways
func (Ways) Of(method string) string
func (Ways) Open() []string
func (Ways) SignUp() string
func (Ways) String() string

type carried = forward.Fields
