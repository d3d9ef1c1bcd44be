package admin // import "github.com/keystile/keystile/internal/admin"

import "context"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/event"
import "net/netip"
import "time"

type Act struct {
	Kind    string
	What    string
	On      string
	App     string
	User    string
	Changes []string
}

type Actor struct {
	storage.User
	AuthTime    time.Time
	Session     string
	Multifactor bool
	Proved      bool
	Bearer      bool
	Application string
	Operator    string
	Request     Request
}

func (Actor) Admin() error
func (Actor) Changes(owner string) bool
func (Actor) Developer() error
func (Actor) Fresh() error
func (Actor) HasRole(reads bool) error
func (Actor) In(ctx context.Context) context.Context
func (Actor) Name() string
func (Actor) Proven() error
func (Actor) Reader() error
func (Actor) Sees(owner string) bool
func (Actor) Writer() error

type Notifier interface {
	Notify(ctx context.Context, sub string, n event.Notice)
}

type Recorder struct {
	Trail    Trail
	Notifier Notifier
}

func (Recorder) Note(ctx context.Context, by Actor, a Act) error
func (Recorder) Notify(ctx context.Context, by Actor, n event.Notice, subs ...string)

type Request struct {
	Event event.Event
	IP    netip.Addr
	Agent string
}

type Trail interface {
	NoteNow(ctx context.Context, e event.Event) error
}
