package tools

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// rows bounds how many records a page of a list has.
const rows = 50

// line is a capability in a list. It has no field for a secret.
type line struct {
	Member, Label, Description, Kind, UpstreamURL, AuthType, Owner, WebhookURL string

	Publish, Credential bool
	ToolCount, Timeout  int
	UpdatedAt           string
	HeaderNames         []string // of the secret headers
	Identity            string   // what the upstream learns of callers; "": nothing
	OffBus              string   // why it is not on the bus although it is published
	Mine                bool     // the reader may change it
}

func (t *Tools) lineOf(c storage.Capability, who admin.Actor) line {
	l := line{
		Member: c.Member, Label: ui.Shown(c.Label, 200), Description: ui.Shown(c.Description, 1024), Kind: c.Kind,
		UpstreamURL: address(c.UpstreamURL, who.Changes(c.Owner)),
		AuthType:    c.AuthType, Owner: c.Owner, WebhookURL: address(c.WebhookURL, who.Changes(c.Owner)),
		Publish: c.Publish, Credential: !c.AuthSecret.IsZero(),
		ToolCount: c.ToolCount, Timeout: int(c.CallTimeout().Seconds()),
		UpdatedAt: c.UpdatedAt.UTC().Format(adminapi.ISO8601),
		Mine:      who.Changes(c.Owner), HeaderNames: c.HeaderNames(), Identity: c.Identity.Kind,
	}
	if t.c.Bus != nil {
		l.OffBus = t.c.Bus.WhyUnlisted(c.Member)
	}
	return l
}

// address shows where requests go. A secret in an address, a password or a token in the query, is shown only to readers
// who may change it.
func address(text string, mine bool) string {
	if mine || text == "" {
		return ui.Shown(text, 300)
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" {
		return "…"
	}
	hidden := u.RawQuery != "" || u.Fragment != ""
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	if text = ui.Shown(u.String(), 300); hidden {
		text += "?…"
	}
	return text
}

// listed is a page of the list.
type listed struct {
	Lines []line
	Next  string
}

// list shows a person's own capabilities, those of one owner who is asked for, such as a group that they manage, or all
// of them to a reader who sees all.
func (t *Tools) list(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	owner := who.Sub
	if who.Reader() == nil {
		owner = ""
	}
	if asked := r.URL.Query().Get("owner"); asked != "" {
		if owner = asked; !driver.ValidName(owner) || !who.Sees(owner) {
			return listed{}, nil
		}
	}
	all, next, err := t.c.Store.Capabilities(r.Context(), owner, after, rows)
	if err != nil {
		return nil, err
	}
	record := listed{Next: next}
	for _, c := range all {
		record.Lines = append(record.Lines, t.lineOf(c, who))
	}
	return record, nil
}

// read returns a capability that somebody may see, with its tools: those that the bus has found if the
// upstream lists them.
func (t *Tools) read(r *http.Request, who admin.Actor) (storage.Capability, []toolplan.Tool, error) {
	c, tools, err := t.c.Store.Tools(r.Context(), r.PathValue("member"))
	if errors.Is(err, storage.ErrNotFound) || err == nil && !who.Sees(c.Owner) {
		return storage.Capability{}, nil, noCapability
	}
	if err == nil && c.AutoDiscover() && t.c.Bus != nil {
		tools = t.c.Bus.ToolsOf(c.Member)
	}
	return c, tools, err
}

// toolLine is a tool in a list.
type toolLine struct {
	Name, Description, Method, Path string
	ReadOnly                        bool
}

func toolLines(tools []toolplan.Tool, after string) (all []toolLine, next string) {
	tools = slices.Clone(tools)
	slices.SortFunc(tools, func(a, b toolplan.Tool) int { return strings.Compare(a.Name, b.Name) })
	for _, tool := range tools {
		if tool.Name <= after {
			continue
		}
		if len(all) == rows {
			return all, all[rows-1].Name
		}
		all = append(all, toolLine{tool.Name, ui.Shown(tool.Description, 160), tool.Method, ui.Shown(tool.Path, 120),
			tool.ChangesNothing()})
	}
	return all, ""
}

// capability holds what the page of one shows.
type capability struct {
	line
	Tools   []toolLine
	Next    string
	Skipped []toolplan.Skip
	More    int // that were left out and are not shown

	Discovers bool
	Held      int // tools that the upstream has changed, or lists anew
}

const maxSkips = 30

// skips returns the first pieces that were left out, and how many more there are.
func skips(all []toolplan.Skip) (out []toolplan.Skip, more int) {
	for _, s := range all[:min(len(all), maxSkips)] {
		out = append(out, toolplan.Skip{Pointer: ui.Shown(s.Pointer, 200), Reason: ui.Shown(s.Reason, 200)})
	}
	return out, max(0, len(all)-maxSkips)
}

func (t *Tools) show(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	c, tools, err := t.read(r, who)
	if err != nil {
		return nil, err
	}
	record := capability{line: t.lineOf(c, who)}
	if record.Discovers = c.AutoDiscover(); record.Discovers {
		record.ToolCount = len(tools)
		h, err := t.c.Store.Held(r.Context(), c.Member)
		if err != nil {
			return nil, err
		}
		record.Held = len(h.Tools) + h.More
	}
	record.Tools, record.Next = toolLines(tools, r.URL.Query().Get("after"))
	record.Skipped, record.More = skips(c.Skipped)
	return record, nil
}
