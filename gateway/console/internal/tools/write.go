package tools

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/sample"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// draft holds what the form of a registration shows.
type draft struct {
	Values  map[string]string
	Source  string // what the tools come from
	Publish bool
	Resolve bool // nested references are shown with what they lead to
	PinsOff bool
	There   bool // it replaces what is stored
	Replace bool // even if tools that are there are removed
	New     []int
	Kept    *document // nil: none is kept
	NotKept bool      // the document is too large for it
	Preview *preview
	Sample  bool // a sample is offered
	Open    bool // what is folded holds what was typed
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
	"webhook_url", "timeout", "identity", "identity_subject", "identity_jti"}

// draft shows an empty form, that of a capability to register again, or one that was refused.
func (t *Tools) draft(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	d := draft{Values: map[string]string{}, Publish: true, Resolve: true, New: newRows(0), Source: fromDocument}
	if r.Method == http.MethodPost {
		d = draftOf(r)
		d.Open = true
		if doc, err := t.kept(r.Context(), who.Sub, r.PostForm.Get("kept")); err == nil {
			d.Kept = &doc
		}
	}
	d.Sample = t.c.Sample
	member := cmp.Or(d.Values["member"], r.URL.Query().Get("member"))
	if member == "" {
		return d, nil
	}
	c, err := t.changeable(r, member, who)
	if r.Method == http.MethodPost {
		d.There = err == nil
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	d.There, d.Publish, d.PinsOff = true, c.Publish, c.PinsOff
	if c.Kind == storage.CapabilityMCP {
		d.Source = fromEndpoint
	}
	d.Values = map[string]string{
		"member": c.Member, "label": c.Label, "description": c.Description, "upstream_url": c.UpstreamURL,
		"auth_type": c.AuthType,
		"auth_name": c.AuthName, "auth_in": c.AuthIn, "webhook_url": c.WebhookURL,
		"timeout":  strconv.Itoa(int(c.CallTimeout() / time.Second)),
		"identity": c.Identity.Kind, "identity_subject": c.Identity.Subject, "identity_jti": c.Identity.JTI,
	}
	return d, nil
}

// preview shows what a registration would store, and how that differs from what is stored.
func (t *Tools) preview(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if r.URL.Query().Has("sample") {
		return t.sample(r, who)
	}
	f, err := t.receive(r, who)
	if err != nil {
		return nil, err
	}
	f.Preview, err = t.previewOf(r, who, f)
	if !f.broken {
		err = errors.Join(err, t.hold(r, who, f))
	}
	if err != nil {
		return nil, err
	}
	if f.NotKept {
		f.Values["document"] = r.PostForm.Get("document")
	}
	return f.draft, nil
}

// sample shows what the sample API would be.
func (t *Tools) sample(r *http.Request, who admin.Actor) (any, error) {
	if !t.c.Sample {
		return nil, wrong("file", "There is no sample here.")
	}
	f := &form{draft: draft{Values: map[string]string{}, Publish: true, Resolve: true, New: newRows(0),
		Source: fromDocument}, fields: map[string]any{"publish": true, "resolve_refs": true, "keep_tools": true}}
	f.doc = document{Name: "sample.json", text: sample.Document()}
	f.doc.Size = len(f.doc.text)
	var err error
	if f.Preview, err = t.previewOf(r, who, f); err == nil {
		err = t.hold(r, who, f)
	}
	return f.draft, err
}

func (t *Tools) previewOf(r *http.Request, who admin.Actor, f *form) (*preview, error) {
	c, tools, advice, err := t.judged(r, who, f)
	if err != nil {
		return nil, err
	}
	p := &preview{Count: len(tools)}
	p.Tools, _ = toolLines(tools, "")
	p.Skipped, p.More = skips(c.Skipped)
	for _, line := range advice[:min(len(advice), maxSkips)] {
		p.Advice = append(p.Advice, ui.Shown(line, 300))
	}
	there, stored, err := t.c.Store.Tools(r.Context(), f.Values["member"])
	if err == nil && who.Changes(there.Owner) {
		f.There, p.Compared = true, true
		p.Added, p.Removed, p.Changed = difference(stored, tools)
	} else if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	f.doc.Tools = len(tools)
	return p, nil
}

// judged returns what a form would store, and completes the form by what its document suggests.
func (t *Tools) judged(r *http.Request, who admin.Actor, f *form) (_ storage.Capability, tools []toolplan.Tool,
	advice []string, err error) {
	if err := f.check(); err != nil {
		return storage.Capability{}, nil, nil, err
	}
	text, err := f.body()
	if err != nil {
		return storage.Capability{}, nil, nil, err
	}
	c, tools, advice, err := t.c.Registry.PreviewBody(who.In(r.Context()), who.User, text)
	if err != nil {
		return c, nil, nil, f.refused(err)
	}
	if f.Values["upstream_url"] == "" {
		f.Values["upstream_url"] = f.doc.server(c.UpstreamURL)
	}
	if f.Values["member"] == "" {
		f.Values["member"], err = t.freeName(r, c.Member)
	}
	for _, name := range []string{"member", "upstream_url"} {
		r.PostForm.Set(name, f.Values[name])
	}
	return c, tools, advice, err
}

// server returns where the calls of a document go that names a server by this URL; "" if that is not known.
func (d document) server(named string) string {
	at, err := url.Parse(d.URL)
	to, err2 := url.Parse(cmp.Or(named, "/"))
	if err != nil || err2 != nil {
		return ""
	}
	if whole := at.ResolveReference(to).String(); isWebAddress(whole) {
		return whole
	}
	return ""
}

// freeName returns a name that begins as suggested and that no capability has; "" if nothing was suggested.
func (t *Tools) freeName(r *http.Request, suggested string) (string, error) {
	name := suggested
	for i := 2; name != "" && i < 20; i++ {
		_, err := t.c.Store.Capability(r.Context(), name)
		if errors.Is(err, storage.ErrNotFound) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		name = suggested + "-" + strconv.Itoa(i)
	}
	return "", nil
}

// registration holds what was registered.
type registration struct {
	line
	Removed, Advice []string
}

func (t *Tools) register(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := t.receive(r, who)
	if err != nil {
		return nil, err
	}
	done, err := t.registered(r, who, f)
	if err != nil && f.new && !f.broken {
		err = errors.Join(err, t.hold(r, who, f))
	}
	if err != nil {
		return nil, err
	}
	t.drop(r.Context(), who.Sub, f.doc.Ref)
	return done, nil
}

func (t *Tools) registered(r *http.Request, who admin.Actor, f *form) (any, error) {
	if f.other {
		return nil, wrong("file", "This is another document than the one that you looked at: look at its preview, "+
			"then register it.")
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.Values["member"] == "" || f.Values["upstream_url"] == "" {
		return nil, t.askForRest(r, who, f)
	}
	text, err := f.body()
	if err != nil {
		return nil, err
	}
	c, removed, advice, err := t.c.Registry.RegisterBody(who.In(r.Context()), who.User, text)
	if err != nil {
		return nil, f.refused(err)
	}
	return registration{t.lineOf(c, who), removed, advice}, nil
}

// askForRest fills in the name and the upstream of a form by its document, and asks whether they are right: a document
// does not decide by itself where calls go.
func (t *Tools) askForRest(r *http.Request, who admin.Actor, f *form) error {
	if _, _, _, err := t.judged(r, who, f); err != nil {
		return err
	}
	switch {
	case f.Values["upstream_url"] == "":
		return wrong("upstream_url", "Upstream URL is missing: the document names no server, so say where calls go.")
	case f.Values["member"] == "":
		return wrong("member", "Name is missing: tools are called by it, and the name of each.")
	}
	return wrong("upstream_url", "The document has given the name or the upstream URL: check them, then register.")
}

// tells says how a registration ended: one without tools, or with fewer than before, is to be looked at.
func tells(result any) *ui.Told {
	done := result.(registration)
	told := &ui.Told{Text: "The API is registered with %s tools.", Args: []any{done.ToolCount}}
	switch {
	case len(done.Removed) > 0:
		told.Text, told.Args = "The API is registered with %s tools. %s that were there are gone:",
			[]any{done.ToolCount, len(done.Removed)}
		told.List = done.Removed[:min(len(done.Removed), maxNames)]
	case done.ToolCount == 0:
		told.Text, told.Args, told.List = "The API is registered, and has no tools.", nil, done.Advice
	case len(done.Advice) > 0:
		told.Text, told.List = "The API is registered with %s tools. Look at this:", done.Advice
	}
	told.Amber = told.List != nil || done.ToolCount == 0
	return told
}
