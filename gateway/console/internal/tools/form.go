package tools

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/stash"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage/lasthop"
)

// maxDocument bounds a form with a document, in bytes.
const maxDocument = 16<<20 + 64<<10

// The sources of the tools of a registration.
const (
	fromDocument = "document"
	fromEndpoint = "mcp"
)

// form is a form of a registration as it came.
type form struct {
	draft
	doc    document
	new    bool // the document came with this form, and is not kept yet
	other  bool // it is another one than the form has named
	broken bool // it cannot be read, and is not kept: a text stays in its field, and a file is chosen again
	fields map[string]any
}

// body returns the form as the registry reads it.
func (f *form) body() ([]byte, error) {
	if f.Source == fromDocument {
		f.fields["openapi"] = string(f.doc.text)
	}
	for _, name := range []string{"member", "upstream_url"} {
		if delete(f.fields, name); f.Values[name] != "" {
			f.fields[name] = f.Values[name]
		}
	}
	return json.Marshal(f.fields)
}

// receive reads a form. Its secrets are taken out of it: a form that is refused shows them no more.
func (t *Tools) receive(r *http.Request, who admin.Actor) (*form, error) {
	f := &form{draft: draftOf(r), fields: map[string]any{}}
	if headers := headersOf(r); len(headers) > 0 {
		f.fields["headers"] = headers
	}
	for _, name := range []string{"auth_secret", "webhook_secret"} {
		if text := r.PostForm.Get(name); text != "" {
			f.fields[name] = text
		}
		r.PostForm.Del(name)
	}
	if err := t.choose(r, who, f); err != nil {
		return nil, err
	}
	for name, value := range map[string]any{"publish": f.Publish, "resolve_refs": f.Resolve, "keep_tools": !f.Replace,
		"pins": !f.PinsOff} {
		f.fields[name] = value
	}
	for _, name := range draftFields {
		ofSigned := name == "identity_subject" || name == "identity_jti"
		if f.Values[name] != "" && (!ofSigned || f.Values["identity"] == lasthop.Signed) {
			f.fields[name] = f.Values[name]
		}
	}
	return f, nil
}

// draftOf returns what a form shows again, without its document.
func draftOf(r *http.Request) draft {
	d := draft{Values: map[string]string{}, Publish: r.PostForm.Has("publish"), Resolve: r.PostForm.Has("resolve_refs"),
		Replace: r.PostForm.Has("replace"), PinsOff: r.PostForm.Has("pins_off"), New: newRows(0), Source: fromDocument}
	if r.PostForm.Get("source") == fromEndpoint {
		d.Source = fromEndpoint
	}
	for _, name := range draftFields {
		d.Values[name] = formText(r, name)
	}
	return d
}

// choose finds the document of a form: the one that comes with it, else the one that it names.
func (t *Tools) choose(r *http.Request, who admin.Actor, f *form) (err error) {
	ref := r.PostForm.Get("kept")
	if ref != "" {
		if f.doc, err = t.kept(r.Context(), who.Sub, ref); err != nil {
			if r.PostForm.Del("kept"); !errors.Is(err, errGone) {
				return err
			}
		}
	}
	gone := err
	came, err := t.came(r, who)
	if err != nil {
		return err
	}
	if came.text == nil {
		if gone != nil && f.Source == fromDocument {
			return gone
		}
		return nil
	}
	if f.Source == fromEndpoint {
		return wrong("source", "An MCP endpoint takes no document: choose the other, or leave the document out.")
	}
	f.new, f.other = true, f.doc.text != nil && string(f.doc.text) != string(came.text)
	if f.doc.text != nil && !f.other {
		f.new = false
		return nil
	}
	came.Ref = f.doc.Ref
	f.doc = came
	return nil
}

// hold keeps the document of a form, and takes it out of the form: the page names it from now on. One that is too large
// to be kept stays in its field, and a file has to be chosen again.
func (t *Tools) hold(r *http.Request, who admin.Actor, f *form) error {
	if f.doc.text == nil {
		return nil
	}
	d, err := t.keep(r.Context(), who.Sub, f.doc)
	if errors.Is(err, stash.ErrTooLarge) {
		f.NotKept = true
		return nil
	}
	if err != nil {
		return err
	}
	f.doc, f.Kept = d, &d
	r.PostForm.Set("kept", d.Ref)
	r.PostForm.Del("document")
	r.PostForm.Del("document_url")
	return nil
}

// came returns the document that comes with a form, without a text if none does.
func (t *Tools) came(r *http.Request, who admin.Actor) (d document, err error) {
	pasted, address := r.PostForm.Get("document"), formText(r, "document_url")
	file, head, err := r.FormFile("file")
	if err == nil {
		defer file.Close()
		if d.text, err = io.ReadAll(file); err != nil {
			return d, wrong("file", "The file could not be read: choose it again.")
		}
		d.Name = ui.Shown(path.Base(strings.ReplaceAll(head.Filename, `\`, "/")), 100)
	}
	given := 0
	for _, is := range []bool{len(d.text) > 0, strings.TrimSpace(pasted) != "", address != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return d, wrong("file", "Choose one document: a file, a pasted text or a URL.")
	case strings.TrimSpace(pasted) != "":
		d.text = []byte(pasted)
	case address != "":
		if !isWebAddress(address) {
			return d, wrong("document_url", "URL of the document: it begins with https:// or http:// and has a host.")
		}
		d.text, err = t.c.Registry.FetchDocument(who.In(r.Context()), who.User, address)
		if err != nil {
			return d, &ui.Mistyped{Failure: reply.FailureOf(err), Field: "document_url"}
		}
		u, _ := url.Parse(address) // isWebAddress has read it
		d.Name, d.URL = ui.Shown(u.Host+u.Path, 100), address
	case given == 0:
		d.text = nil
	}
	d.Size = len(d.text)
	return d, nil
}

var memberForm = pattern.Lazy(`^[A-Za-z0-9]([A-Za-z0-9_-]{0,46}[A-Za-z0-9-])?$`)

// check says what is wrong with the fields of a form, by their labels.
func (f *form) check() error {
	v := f.Values
	switch {
	case f.Source == fromDocument && f.doc.text == nil:
		return wrong("file", "Choose an OpenAPI document: a file, a pasted text or a URL.")
	case f.Source == fromEndpoint && v["member"] == "":
		return wrong("member", "Name is missing: tools are called by it, and the name of each.")
	case v["member"] != "" && (!memberForm().MatchString(v["member"]) || strings.Contains(v["member"], "__")):
		return wrong("member", "Name has 1 to 48 letters of A to Z, digits, - and _. It begins with a letter or a digit, "+
			"does not end in _ and has no __.")
	case f.Source == fromEndpoint && v["upstream_url"] == "":
		return wrong("upstream_url", "Upstream URL is missing: say where calls go.")
	case v["upstream_url"] != "" && !isWebAddress(v["upstream_url"]):
		return wrong("upstream_url", "Upstream URL begins with https:// or http:// and has a host.")
	case v["webhook_url"] != "" && !isWebAddress(v["webhook_url"]):
		return wrong("webhook_url", "Webhook URL begins with https:// or http:// and has a host.")
	}
	if v["timeout"] == "" {
		return nil
	}
	n, err := strconv.Atoi(v["timeout"])
	if err != nil || n < 1 || n > 600 {
		return wrong("timeout", "Seconds that a call may take: a whole number from 1 to 600.")
	}
	f.fields["timeout"] = n
	return nil
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// wrong returns the refusal of a form because of one of its fields.
func wrong(field, text string) error {
	return &ui.Mistyped{Failure: adminapi.BadBody.Saying(text), Field: field}
}

// from returns the field that the document of a form has come by.
func (f *form) from() string {
	switch {
	case f.doc.URL != "":
		return "document_url"
	case f.doc.Name != "":
		return "file"
	}
	return "document"
}

// refused returns a refusal of the registry as one that leaves the form to be mended, where it was refused because of a
// name that somebody else has or because of its document.
func (f *form) refused(err error) error {
	no := (*reply.Failure)(nil)
	switch {
	case !errors.As(err, &no):
		return err
	case strings.HasPrefix(no.Msg, "the document ") && f.doc.text != nil:
		f.broken = true
		return &ui.Mistyped{Failure: no, Field: f.from()}
	case no.Status != http.StatusForbidden:
		return err
	}
	taken := *no
	taken.Status = http.StatusConflict
	return &ui.Mistyped{Failure: &taken, Field: "member"}
}
