package pins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/toolpins"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// Tool is a tool that waits until it is accepted.
type Tool struct {
	Name    string         `json:"name"`
	New     bool           `json:"new"`                // no tool of this name was accepted
	Changes []Change       `json:"changes"`            // of the accepted one; of a new one, all that it has
	Before  *toolplan.Tool `json:"accepted,omitempty"` // nil: it is new
	After   toolplan.Tool  `json:"held"`
}

// Change is one place in which a tool that waits differs from the accepted one.
type Change struct {
	At     string `json:"at"`             // a JSON pointer, such as /inputSchema/properties/to
	Before string `json:"before"`         // what was accepted there: a text, or JSON; "" if there was nothing
	After  string `json:"after"`          // what waits; "" if there is nothing
	Note   string `json:"note,omitempty"` // in which characters two texts differ that may look alike
}

// View holds what waits of a capability until it is accepted.
type View struct {
	Capability storage.Capability `json:"-"`
	Tools      []Tool             `json:"held"`
	Gone       []string           `json:"gone"`   // accepted tools that the upstream does not list now
	More       int                `json:"more"`   // how many more wait, which are shown when these are accepted
	Digest     string             `json:"digest"` // identifies what is shown; "": nothing waits
	At         time.Time          `json:"-"`
	Accepted   []string           `json:"-"` // by Accept
}

func view(c storage.Capability, h toolplan.Held) View {
	out := View{Capability: c, Tools: []Tool{}, Gone: append([]string{}, h.Gone...), More: h.More, Digest: h.Digest,
		At: h.At}
	for _, t := range h.Tools {
		one := Tool{Name: t.Name, New: true, After: t}
		var before toolplan.Tool
		if i := slices.IndexFunc(h.Before, func(was toolplan.Tool) bool { return was.Name == t.Name }); i >= 0 {
			before = h.Before[i]
			one.New, one.Before = false, &before
		}
		one.Changes = []Change{}
		for _, c := range toolpins.Difference(before, t) {
			one.Changes = append(one.Changes, Change(c))
		}
		out.Tools = append(out.Tools, one)
	}
	return out
}

// Show returns what waits of a capability.
func (p *Pins) Show(ctx context.Context, c storage.Capability) (View, error) {
	h, err := p.c.Store.Held(ctx, c.Member)
	return view(c, h), err
}

// Why nothing is accepted.
var (
	ErrUnseen  = errors.New("what is held now may not be what was seen")
	ErrUnknown = errors.New("nothing is held under the name")
)

// Accept accepts tools that wait, by name; nil: all that are shown, which also forgets those that are gone. It accepts
// nothing that was not seen: digest identifies the set of tools that was shown to the user. Without it, the set that
// waits must be the only one that has waited since tools were accepted last, so that the user cannot have seen another.
// Its errors wrap ErrUnseen or ErrUnknown, or storage.ErrConflict if c has changed.
func (p *Pins) Accept(ctx context.Context, c storage.Capability, names []string, digest string) (View, error) {
	h, err := p.c.Store.Held(ctx, c.Member)
	switch {
	case err != nil:
		return View{}, err
	case h.Digest == "" && names == nil:
		return view(c, h), nil
	case digest != "" && digest != h.Digest, digest == "" && h.Changed:
		return View{}, ErrUnseen
	}
	chosen, rest, err := split(h, names)
	if err != nil {
		return View{}, err
	}
	now, accepted, err := p.c.Store.Tools(ctx, c.Member)
	if err == nil && now.Version != c.Version {
		err = storage.ErrConflict
	}
	if err != nil {
		return View{}, asConflict(err)
	}
	gone := h.Gone
	if names != nil {
		gone = nil
	}
	after := toolpins.Merge(accepted, chosen, gone)
	c.ToolCount = len(after)
	events, err := webhook.Events(webhook.Updated, c)
	if err != nil {
		return View{}, err
	}
	left := leave(h, rest)
	if c, err = p.c.Store.SaveAccepted(ctx, c, after, left, events...); err != nil {
		return View{}, asConflict(err)
	}
	out := view(c, left)
	for _, t := range chosen {
		out.Accepted = append(out.Accepted, t.Name)
	}
	return out, nil
}

// leave returns the record of the tools that stay held after others were accepted. The user who accepted those has
// seen these too.
func leave(h toolplan.Held, rest []toolplan.Tool) toolplan.Held {
	left := emptied(h)
	left.ToldAt = time.Time{}
	if len(rest) == 0 {
		return left
	}
	left.Tools, left.Before, left.Gone, left.More, left.Digest = rest, among(h.Before, rest), h.Gone, h.More,
		toolpins.Digest(rest)
	left.First, left.Told = left.Digest, append(left.Told, left.Digest)
	left.Told = left.Told[max(0, len(left.Told)-maxToldOf):]
	return left
}

// maxUnknown bounds the unknown names that an error lists.
const maxUnknown = 3

// split splits what is held by name; nil chooses all.
func split(h toolplan.Held, names []string) (chosen, rest []toolplan.Tool, err error) {
	var unknown []string
	for _, name := range names {
		if !slices.ContainsFunc(h.Tools, func(t toolplan.Tool) bool { return t.Name == name }) {
			unknown = append(unknown, fmt.Sprintf("%.80q", name))
		}
	}
	if len(unknown) > 0 {
		return nil, nil, fmt.Errorf("%w %s", ErrUnknown, strings.Join(unknown[:min(len(unknown), maxUnknown)], ", "))
	}
	for _, t := range h.Tools {
		if names == nil || slices.Contains(names, t.Name) {
			chosen = append(chosen, t)
		} else {
			rest = append(rest, t)
		}
	}
	return chosen, rest, nil
}
