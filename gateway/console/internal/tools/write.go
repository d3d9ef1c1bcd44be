package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

const (
	maxDocument = 16<<20 + 64<<10 // of a form with a document
	maxEcho     = 16 << 10        // of a document that stands on the page again
)

// draft holds what the form of a registration shows.
type draft struct {
	Values  map[string]string
	Publish bool
	Resolve bool // nested references are shown with what they lead to
	PinsOff bool
	There   bool // it replaces what is stored
	Replace bool // even if tools that are there are removed
	New     []int
	Preview *preview
}

// preview holds what would be stored.
type preview struct {
	Tools                   []toolLine
	Count                   int
	Skipped                 []toolplan.Skip
	More                    int
	Advice                  []string
	Added, Removed, Changed []string
	Compared                bool
}

var draftFields = []string{"member", "label", "description", "upstream_url", "auth_type", "auth_name", "auth_in",
	"webhook_url", "timeout"}

// draft shows an empty form, or that of a capability to register again.
func (t *Tools) draft(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	d := draft{Values: map[string]string{}, Publish: true, Resolve: true, New: newRows(0)}
	member := r.URL.Query().Get("member")
	if member == "" {
		return d, nil
	}
	c, err := t.changeable(r, member, who)
	if err != nil {
		return nil, err
	}
	d.There, d.Publish, d.PinsOff = true, c.Publish, c.PinsOff
	d.Values = map[string]string{
		"member": c.Member, "label": c.Label, "description": c.Description, "upstream_url": c.UpstreamURL,
		"auth_type": c.AuthType,
		"auth_name": c.AuthName, "auth_in": c.AuthIn, "webhook_url": c.WebhookURL,
		"timeout": strconv.Itoa(int(c.CallTimeout() / time.Second)),
	}
	return d, nil
}

// body returns the form as the registry reads it, and the form as it is shown again, without secrets.
func body(r *http.Request) ([]byte, draft, error) {
	d := draft{Values: map[string]string{}, Publish: r.PostForm.Has("publish"), Resolve: r.PostForm.Has("resolve_refs"),
		Replace: r.PostForm.Has("replace"), PinsOff: r.PostForm.Has("pins_off"), New: newRows(0)}
	fields := map[string]any{"publish": d.Publish, "resolve_refs": d.Resolve, "keep_tools": !d.Replace,
		"pins": !d.PinsOff}
	if headers := headersOf(r); len(headers) > 0 { // before anything is refused
		fields["headers"] = headers
	}
	for _, name := range draftFields {
		text := formText(r, name)
		d.Values[name] = text
		if text == "" {
			continue
		}
		fields[name] = text
		if name == "timeout" {
			fields[name] = json.RawMessage(text)
			if !json.Valid([]byte(text)) {
				return nil, d, adminapi.BadBody.Saying("timeout is not a number")
			}
		}
	}
	for _, name := range []string{"auth_secret", "webhook_secret"} {
		if text := r.PostForm.Get(name); text != "" {
			fields[name] = text
		}
		r.PostForm.Del(name) // a form that is refused shows it no more
	}
	document := r.PostForm.Get("document")
	if file, _, err := r.FormFile("file"); err == nil {
		text, err := io.ReadAll(file)
		if err != nil {
			return nil, d, adminapi.BadBody.Saying("the file could not be read: choose it again").Because(err)
		}
		document = cmp.Or(string(text), document)
	}
	if len(document) <= maxEcho {
		d.Values["document"] = document
		r.PostForm.Set("document", document)
	} else {
		r.PostForm.Del("document")
	}
	if strings.TrimSpace(document) != "" {
		fields["openapi"] = document
	}
	text, err := json.Marshal(fields)
	return text, d, err
}

// preview shows what a registration would store, and how that differs from what is stored.
func (t *Tools) preview(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	text, d, err := body(r)
	if err != nil {
		return nil, err
	}
	c, tools, advice, err := t.c.Registry.PreviewBody(who.In(r.Context()), who.User, text)
	if err != nil {
		return nil, err
	}
	p := &preview{Count: len(tools)}
	p.Tools, _ = toolLines(tools, "")
	p.Skipped, p.More = skips(c.Skipped)
	for _, line := range advice[:min(len(advice), maxSkips)] {
		p.Advice = append(p.Advice, ui.Shown(line, 300))
	}
	there, stored, err := t.c.Store.Tools(r.Context(), d.Values["member"])
	if err == nil && who.Changes(there.Owner) {
		d.There, p.Compared = true, true
		p.Added, p.Removed, p.Changed = difference(stored, tools)
	} else if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	d.Preview = p
	return d, nil
}

const maxNames = 200

// difference names the tools that are in one list alone, and those whose call or arguments differ.
func difference(before, after []toolplan.Tool) (added, removed, changed []string) {
	had, schemas := map[string]string{}, map[string]json.RawMessage{}
	for _, tool := range before {
		had[tool.Name], schemas[tool.Name] = print(tool), tool.InputSchema
	}
	for _, tool := range after {
		was, there := had[tool.Name]
		delete(had, tool.Name)
		switch {
		case !there:
			added = append(added, tool.Name)
		case was != print(tool):
			changed = append(changed, tool.Name+argumentChanges(schemas[tool.Name], tool.InputSchema))
		}
	}
	for name := range had {
		removed = append(removed, name)
	}
	for _, list := range []*[]string{&added, &removed, &changed} {
		slices.Sort(*list)
		*list = (*list)[:min(len(*list), maxNames)]
	}
	return added, removed, changed
}

// print is the same for tools that are called alike.
func print(tool toolplan.Tool) string {
	text, _ := json.Marshal([]any{tool.Method, tool.Path, tool.InputSchema, tool.Call}) // it was JSON
	return string(text)
}

func (t *Tools) register(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	text, _, err := body(r)
	if err != nil {
		return nil, err
	}
	c, _, err := t.c.Registry.RegisterBody(who.In(r.Context()), who.User, text)
	if err != nil {
		return nil, err
	}
	return t.lineOf(c, who), nil
}

// publish puts a capability on the bus, or takes it off.
func (t *Tools) publish(on bool) ui.Action {
	return func(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		c, err := t.own(r, who)
		if err != nil {
			return nil, err
		}
		_, err = t.c.Registry.SetPublished(who.In(r.Context()), who.User, c.Member, on)
		return nil, err
	}
}

func (t *Tools) remove(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	c, err := t.own(r, who)
	if err != nil {
		return nil, err
	}
	return nil, t.c.Registry.Remove(who.In(r.Context()), who.User, c.Member)
}

// seen returns a capability that somebody may see.
func (t *Tools) seen(r *http.Request, who admin.Actor) (storage.Capability, error) {
	c, err := t.c.Store.Capability(r.Context(), r.PathValue("member"))
	if errors.Is(err, storage.ErrNotFound) || err == nil && !who.Sees(c.Owner) {
		return c, noCapability
	}
	return c, err
}

// changeable returns a capability that somebody may change; for others there is none.
func (t *Tools) changeable(r *http.Request, member string, who admin.Actor) (storage.Capability, error) {
	c, err := t.c.Store.Capability(r.Context(), member)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !who.Changes(c.Owner) {
		return c, noCapability
	}
	return c, err
}

// own returns a capability that somebody may change; what they may see alone is refused.
func (t *Tools) own(r *http.Request, who admin.Actor) (storage.Capability, error) {
	c, err := t.seen(r, who)
	if err == nil && !who.Changes(c.Owner) {
		err = admin.NotAllowed
	}
	return c, err
}
