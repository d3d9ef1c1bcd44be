package pins // import "github.com/keystile/keystile/registry/pins"

import "context"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/event"
import "github.com/keystile/keystile/storage/toolplan"
import "log/slog"
import "time"

type Change struct {
	At     string "json:\"at\""
	Before string "json:\"before\""
	After  string "json:\"after\""
	Note   string "json:\"note,omitempty\""
}

type Config struct {
	Store    Store
	Notifier interface {
		Notify(ctx context.Context, sub string, n event.Notice)
	}
	Audit interface {
		NoteNow(ctx context.Context, e event.Event) error
	}
	Log *slog.Logger
}

var ErrUnknown error

var ErrUnseen error

func New(c Config) (*Pins, error)

type Pins struct{ _ struct{} }

func (*Pins) Accept(ctx context.Context, c storage.Capability, names []string, digest string) (View, error)
func (*Pins) Found(ctx context.Context, c storage.Capability, accepted []toolplan.Tool, found []toolplan.Tool) (storage.Capability, []toolplan.Tool, error)
func (*Pins) Show(ctx context.Context, c storage.Capability) (View, error)

type Store interface {
	Capability(ctx context.Context, member string) (storage.Capability, error)
	Held(ctx context.Context, member string) (toolplan.Held, error)
	SaveAccepted(ctx context.Context, c storage.Capability, tools []toolplan.Tool, h toolplan.Held, events ...storage.Delivery) (storage.Capability, error)
	SaveHeld(ctx context.Context, h toolplan.Held, events ...storage.Delivery) (toolplan.Held, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
}

type Tool struct {
	Name    string         "json:\"name\""
	New     bool           "json:\"new\""
	Changes []Change       "json:\"changes\""
	Before  *toolplan.Tool "json:\"accepted,omitempty\""
	After   toolplan.Tool  "json:\"held\""
}

type View struct {
	Capability storage.Capability "json:\"-\""
	Tools      []Tool             "json:\"held\""
	Gone       []string           "json:\"gone\""
	More       int                "json:\"more\""
	Digest     string             "json:\"digest\""
	At         time.Time          "json:\"-\""
	Accepted   []string           "json:\"-\""
}
