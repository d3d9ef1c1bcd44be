package consent

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage/access"
)

const (
	// maxChosen bounds the scopes that a user can choose: they stand in each access token, and with
	// the others in a request that is bounded too.
	maxChosen = 24
	// maxPicks bounds the boxes of the form: more than the page has.
	maxPicks = access.MaxOfferedTools + access.MaxOfferedMembers + access.MaxOfferedBundles
)

// Values of the field tools: which of the tools that an application asks for it may use.
const (
	allTools  = "all"
	readTools = "read" // those that change nothing
	someTools = "some" // those of the field pick
)

// choice holds what a user can choose of the tools that an application asks for.
type choice struct {
	All, ReadOnly int // how many tools there are, and how many change nothing
	Read          bool
	Bundles       []pick
	Members       []group
	Hidden        int // capabilities that are not shown

	Fixed bool // there is nothing to choose: the tools are shown alone
	Some  bool // the form is shown again, for the boxes
}

// pick is one box. Its scope is "" if it cannot be chosen alone.
type pick struct {
	Scope, Name, Text string
	Count             int
	ReadOnly          bool
}

// group is one capability, as a box, with the boxes of its tools.
type group struct {
	pick
	Tools []pick
	More  int // tools that are not shown
}

// The counts, as text.

func (c *choice) Count() string       { return strconv.Itoa(c.All) }
func (c *choice) ReadCount() string   { return strconv.Itoa(c.ReadOnly) }
func (c *choice) HiddenCount() string { return unlessNone(c.Hidden) }
func (g group) Number() string        { return strconv.Itoa(g.pick.Count) }
func (g group) Beyond() string        { return unlessNone(g.More) }

func unlessNone(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// choiceOf returns the choice of a user, nil if the application asks for no tools. A first-party
// application is not asked for again, so there is nothing to choose.
func (s *Consents) choiceOf(ctx context.Context, q request, sub string) (*choice, error) {
	if s.Tools == nil || q.app.Client == nil && q.app.FirstParty || !scope.HasTools(q.scope) {
		return nil, nil
	}
	o, err := s.Tools.Offer(ctx, sub, q.app.ID, q.scope)
	if err != nil {
		return nil, err
	}
	c := &choice{All: o.Tools, ReadOnly: o.ReadOnly, Hidden: o.Hidden}
	c.Read = grants(q.scope, scope.ReadOnlyTools) != "" && 0 < o.ReadOnly && o.ReadOnly < o.Tools
	for _, b := range o.Bundles {
		if name := grants(q.scope, scope.Bundle(b.Name)); name != "" {
			c.Bundles = append(c.Bundles, pick{Scope: name, Name: b.Name, Text: b.Label, Count: b.Count})
		}
	}
	for _, m := range o.Members {
		g := group{pick: pick{Name: m.Name, Text: m.Label, Count: m.Count}, More: m.Count - len(m.Tools)}
		if m.Whole {
			g.Scope = grants(q.scope, scope.Member(m.Name))
		}
		for _, t := range m.Tools {
			g.Tools = append(g.Tools, pick{Scope: grants(q.scope, scope.Tool(m.Name, t.Name)), Name: t.Name, Text: t.Description,
				ReadOnly: t.ReadOnly})
		}
		c.Members = append(c.Members, g)
	}
	c.Fixed = len(c.scopes()) < 2
	return c, nil
}

// grants returns a name if a grant of the wanted scope could hold it in place of more, else "".
func grants(wanted, name string) string {
	if scope.IsTools(name) && scope.Within(wanted, name) {
		return name
	}
	return ""
}

func (c *choice) scopes() (all []string) {
	add := func(p pick) {
		if p.Scope != "" {
			all = append(all, p.Scope)
		}
	}
	for _, b := range c.Bundles {
		add(b)
	}
	for _, g := range c.Members {
		add(g.pick)
		for _, t := range g.Tools {
			add(t)
		}
	}
	return all
}

// Why a choice is asked for again.
const (
	choiceBoth = "You ticked single tools, but chose others above. Choose once more which ones you mean."
	choiceNone = "You ticked nothing. Tick what it may use, or choose not to allow it."
	choiceMany = "You ticked too much to be kept. Tick whole capabilities or bundles, 24 at most."
)

// take returns the scope that an answer allows of a wanted one, or why the user has to choose again. It
// returns false for an answer that the page does not offer, or no longer.
func (c *choice) take(wanted, which string, picks []string) (allowed, again string, ok bool) {
	rest, _ := splitTools(wanted)
	switch {
	case c == nil || c.Fixed:
		return wanted, "", len(picks) == 0
	case which == "" && len(picks) == 0:
		return wanted, "", true
	case which != someTools && len(picks) > 0:
		return "", choiceBoth, true
	case which == allTools:
		return wanted, "", true
	case which == readTools && c.Read:
		return strings.Join(append(rest, scope.ReadOnlyTools), " "), "", true
	case which != someTools:
		return "", "", false
	case len(picks) == 0:
		return "", choiceNone, true
	}
	offered := c.scopes()
	for _, name := range picks {
		if !slices.Contains(offered, name) {
			return "", "", false
		}
	}
	if picks = reduced(picks); len(picks) > maxChosen {
		return "", choiceMany, true
	}
	return strings.Join(append(rest, picks...), " "), "", true
}

// splitTools parts the names that open tools from the others.
func splitTools(wanted string) (rest, tools []string) {
	for name := range strings.FieldsSeq(wanted) {
		if scope.IsTools(name) {
			tools = append(tools, name)
		} else {
			rest = append(rest, name)
		}
	}
	return rest, tools
}

// reduced returns picks, each once, without the tools of capabilities that were picked whole.
func reduced(picks []string) (out []string) {
	for _, name := range picks {
		member, _, isTool := scope.ToolOf(name)
		if slices.Contains(out, name) || isTool && slices.Contains(picks, scope.Member(member)) {
			continue
		}
		out = append(out, name)
	}
	return out
}
