package pins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/toolpins"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

// Bounds of what is held of one capability, and of what is told of it (decision 92).
const (
	maxHeldTools = 500             // the rest is counted, and held all the same
	maxHeldBytes = 2 << 20         // of those tools as JSON
	heldAnew     = time.Minute     // after what is held was written, until something else takes its place
	toldAnew     = 6 * time.Hour   // after the owner was told, until they are told of something else
	maxToldOf    = 8               // changes that the owner is not told of again
	maxPinNames  = 100             // that one message lists
	pinNoteTime  = 5 * time.Second // to write what is told
)

// Store keeps what was accepted and what is held; *storage.Store implements it.
type Store interface {
	Capability(ctx context.Context, member string) (storage.Capability, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	Held(ctx context.Context, member string) (toolplan.Held, error)
	SaveHeld(ctx context.Context, h toolplan.Held, events ...storage.Delivery) (toolplan.Held, error)
	SaveAccepted(ctx context.Context, c storage.Capability, tools []toolplan.Tool, h toolplan.Held,
		events ...storage.Delivery) (storage.Capability, error)
}

// Config holds the parameters of New.
type Config struct {
	Store Store // required

	// Notifier tells an owner, a sub, that something is held, without waiting for the delivery; nil: webhooks alone
	// tell it.
	Notifier interface {
		Notify(ctx context.Context, sub string, n event.Notice)
	}
	// Audit records that something is held; nil: nothing is recorded.
	Audit interface {
		NoteNow(ctx context.Context, e event.Event) error
	}
	Log *slog.Logger // nil: slog.Default()
}

// Pins keeps which tools of upstreams that list them by themselves their owners have accepted, and holds what differs.
// Give it to mcpbus.Config, which tells it what upstreams list, and to registry.Config, whose endpoints show what is
// held and accept it.
type Pins struct{ c Config }

// New makes a Pins. Its error names what is wrong with the Config.
func New(c Config) (*Pins, error) {
	if c.Store == nil {
		return nil, errors.New("pins: Store is missing")
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Pins{c}, nil
}

// Found implements mcpbus.Pins. It accepts the first list of a capability, and holds what differs in later ones.
func (p *Pins) Found(ctx context.Context, c storage.Capability, accepted, found []toolplan.Tool) (storage.Capability,
	[]toolplan.Tool, error) {
	if c.PinnedAt.IsZero() {
		return p.acceptFirst(ctx, c, accepted, found)
	}
	if err := p.hold(ctx, c, accepted, found); errors.Is(err, storage.ErrConflict) {
		return c, accepted, err
	} else if err != nil {
		p.c.Log.WarnContext(ctx, "what an upstream has changed is left out, but not noted", "member", c.Member, "err",
			err)
	}
	return c, accepted, nil
}

// acceptFirst stores the first list of a capability, or, of one whose tools an older version has stored, what
// that version left out of them.
func (p *Pins) acceptFirst(ctx context.Context, c storage.Capability, accepted,
	found []toolplan.Tool) (storage.Capability, []toolplan.Tool, error) {
	if _, first := c.Pinned(); first {
		accepted = found
	} else {
		accepted = toolpins.Adopt(accepted, found)
	}
	h, err := p.c.Store.Held(ctx, c.Member)
	if err != nil {
		return c, nil, err
	}
	told := c
	told.ToolCount = len(accepted)
	events, err := webhook.Events(webhook.Updated, told)
	if err != nil {
		return c, nil, err
	}
	saved, err := p.c.Store.SaveAccepted(ctx, c, accepted, emptied(h), events...)
	return saved, accepted, asConflict(err)
}

// emptied is the record of a capability of which nothing is held.
func emptied(h toolplan.Held) toolplan.Held {
	h.Tools, h.Before, h.Gone, h.More, h.Digest, h.At = nil, nil, nil, 0, "", time.Now().UTC()
	h.First, h.Changed = "", false
	return h
}

// asConflict makes storage.ErrConflict of the error of a writer that came second.
func asConflict(err error) error {
	if errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("%w: %w", storage.ErrConflict, err)
	}
	return err
}

// hold writes what differs from what was accepted, and tells the owner.
func (p *Pins) hold(ctx context.Context, c storage.Capability, accepted, found []toolplan.Tool) error {
	_, differs, gone := toolpins.Compare(accepted, found)
	before, err := p.c.Store.Held(ctx, c.Member)
	if err != nil {
		return err
	}
	h, changed := holding(before, accepted, differs, gone)
	tells := h.Digest != "" && !slices.Contains(h.Told, h.Digest) && !lately(h.ToldAt, toldAnew)
	if !changed && !tells {
		return nil
	}
	if now, err := p.c.Store.Capability(ctx, c.Member); err != nil || now.Version != c.Version {
		return cmp.Or(asConflict(err), error(storage.ErrConflict))
	}
	if !tells {
		_, err = p.c.Store.SaveHeld(ctx, h)
		return ofOthers(err)
	}
	h.Told = append(h.Told, h.Digest)
	h.Told, h.ToldAt = h.Told[max(0, len(h.Told)-maxToldOf):], time.Now().UTC()
	news := newsOf(h)
	events, err := webhook.Changed(c, news)
	if err != nil {
		return err
	}
	if _, err = p.c.Store.SaveHeld(ctx, h, events...); err != nil {
		return ofOthers(err)
	}
	return p.tell(ctx, c, h, news)
}

// ofOthers drops the error of a writer that came second: another node has written the held tools already.
func ofOthers(err error) error {
	if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrExists) {
		return nil
	}
	return err
}

// holding returns the record that takes the place of the one that is held, and whether the two differ. A record that
// was written a moment ago stays, so that an upstream that changes all the time is written rarely.
func holding(h toolplan.Held, accepted, differs []toolplan.Tool, gone []string) (_ toolplan.Held, changed bool) {
	kept := within(differs)
	digest, more := toolpins.Digest(kept), len(differs)-len(kept)
	if digest == "" {
		gone = nil
	}
	gone = gone[:min(len(gone), maxHeldTools)]
	if digest == h.Digest && more == h.More && slices.Equal(gone, h.Gone) || h.Digest != "" && lately(h.At, heldAnew) {
		return h, false
	}
	h.Tools, h.Before, h.Gone, h.More, h.Digest, h.At = kept, among(accepted, kept), gone, more, digest,
		time.Now().UTC()
	if h.First == "" {
		h.First = digest
	}
	h.Changed = h.Changed || digest != "" && digest != h.First
	return h, true
}

// among returns the accepted tools that have the names of others.
func among(accepted, others []toolplan.Tool) (out []toolplan.Tool) {
	named := map[string]bool{}
	for _, t := range others {
		named[t.Name] = true
	}
	for _, t := range accepted {
		if named[t.Name] {
			out = append(out, t)
		}
	}
	return out
}

// within returns the first tools that there is room for.
func within(all []toolplan.Tool) []toolplan.Tool {
	size := 0
	for i, t := range all {
		text, err := json.Marshal(t)
		if size += len(text); err != nil || size > maxHeldBytes || i == maxHeldTools {
			return all[:i]
		}
	}
	return all
}

// lately reports whether a time is less than d ago, by a clock that may differ a little.
func lately(at time.Time, d time.Duration) bool { return time.Since(at).Abs() < d }

// newsOf names what is held: tools that have changed, and new ones.
func newsOf(h toolplan.Held) webhook.News {
	n := webhook.News{Gone: first(h.Gone), More: h.More, Digest: h.Digest}
	known := map[string]bool{}
	for _, t := range h.Before {
		known[t.Name] = true
	}
	for _, t := range h.Tools {
		if known[t.Name] {
			n.Changed = append(n.Changed, t.Name)
		} else {
			n.New = append(n.New, t.Name)
		}
	}
	n.More += max(0, len(n.Changed)-maxPinNames) + max(0, len(n.New)-maxPinNames)
	n.Changed, n.New = first(n.Changed), first(n.New)
	return n
}

func first(names []string) []string {
	return append([]string{}, names[:min(len(names), maxPinNames)]...)
}

// tell notes that something is held, and has the owner notified.
func (p *Pins) tell(ctx context.Context, c storage.Capability, h toolplan.Held, n webhook.News) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pinNoteTime)
	defer cancel()
	if p.c.Notifier != nil && c.Owner != "" {
		p.c.Notifier.Notify(ctx, c.Owner, event.Notice{Kind: event.NoticeTools, Capability: c.Member, Detail: n.Names(),
			At: h.ToldAt})
	}
	if p.c.Audit == nil {
		return nil
	}
	return p.c.Audit.NoteNow(ctx, event.Event{
		Kind: event.Registration, User: c.Owner, Status: http.StatusOK, Detail: "hold " + c.Member + " " + h.Digest +
			": " + n.Text(),
	})
}
