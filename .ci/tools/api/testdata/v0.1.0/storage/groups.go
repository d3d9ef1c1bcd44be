package groups // import "github.com/keystile/keystile/storage/groups"

import "context"
import "github.com/keystile/keystile/internal/record/forward"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/internal/clock"
import "github.com/keystile/keystile/storage/internal/document"
import "time"

func CheckMapping(claim string, names map[string]string) error

var ErrTooManyGroups error

type Group struct {
	Name      string    "json:\"name\""
	Label     string    "json:\"label,omitempty\""
	Managers  []string  "json:\"managers,omitempty\""
	Key       string    "json:\"key\""
	CreatedAt time.Time "json:\"created_at\""
	UpdatedAt time.Time "json:\"updated_at\""
	Version   int64     "json:\"-\""
	carried
}

func (Group) Begins(text string) bool
func (Group) Check() error
func (Group) Manages(sub string) bool
func (Group) Since() time.Time

func Joined(s *Store, sub string, in []Group) ([]driver.Doc, error)

var Kinds []document.AnyKind

func Leave(ctx context.Context, docs *document.Store, sub string) error

type Mapping struct {
	Connector string            "json:\"connector\""
	Claim     string            "json:\"groups_claim\""
	Groups    map[string]string "json:\"groups_map\""
	UpdatedAt time.Time         "json:\"updated_at\""
	Version   int64             "json:\"-\""
	carried
}

func (Mapping) Check() error

const MaxGroupsOfUser = 200

const MaxManagers = 50

type Member struct {
	Sub string
	Membership
}

type Membership struct {
	Group string    "json:\"group\""
	Key   string    "json:\"key\""
	By    string    "json:\"by,omitempty\""
	At    time.Time "json:\"at\""
	carried
}

func (Membership) Since() time.Time

func New(docs *document.Store, clock *clock.Clock) *Store

var OfUser []string

type Store struct{ _ struct{} }

func (*Store) AddMember(ctx context.Context, group string, sub string) (added bool, err error)
func (*Store) DeleteGroup(ctx context.Context, g Group) error
func (*Store) FindGroups(ctx context.Context, prefix string, from string, n int) ([]Group, string, error)
func (*Store) FollowGroups(ctx context.Context, sub string, connector string, names []string) (before []string, after []string, err error)
func (*Store) Group(ctx context.Context, name string) (Group, error)
func (*Store) GroupMapping(ctx context.Context, connector string) (Mapping, error)
func (*Store) GroupMappings(ctx context.Context, from string, n int) ([]Mapping, string, error)
func (*Store) GroupsManagedBy(ctx context.Context, sub string, from string, n int) ([]Group, string, error)
func (*Store) GroupsOf(ctx context.Context, sub string) (all []access.Group, err error)
func (*Store) IsMember(ctx context.Context, group string, sub string) (bool, error)
func (*Store) Members(ctx context.Context, g Group, from string, n int) (all []Member, next string, err error)
func (*Store) Memberships(ctx context.Context, sub string) ([]Membership, error)
func (*Store) OwnerDocs(ctx context.Context, owner string) ([]driver.Doc, error)
func (*Store) RemoveGroupMapping(ctx context.Context, m Mapping) error
func (*Store) RemoveMember(ctx context.Context, group string, sub string) (removed bool, err error)
func (*Store) SaveGroup(ctx context.Context, g Group) (Group, error)
func (*Store) SaveGroupMapping(ctx context.Context, m Mapping) (Mapping, error)
func (*Store) SweepGroups(ctx context.Context, at time.Time, n int) (removed int, err error)

type carried = forward.Fields
