package trail

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/event"
)

const (
	pageSize = 50
	maxText  = 256 // bytes of a filter
)

var classes = []string{"1xx", "2xx", "3xx", "4xx", "5xx"}

// query reads what is searched for, and confines it to what somebody may see.
func (t *Trail) query(r *http.Request, who admin.Actor) (q event.Query, err error) {
	form := r.URL.Query()
	for name, into := range map[string]*string{
		"client_id": &q.App, "sub": &q.User, "agent": &q.Agent, "kind": &q.Kind,
		"request_id": &q.RequestID, "ip": &q.IP, "status": &q.Status,
	} {
		if *into = form.Get(name); len(*into) > maxText {
			return q, adminapi.BadQuery.Saying(name + " is longer than any there is")
		}
	}
	if q.Status != "" && !slices.Contains(classes, q.Status) {
		return q, adminapi.BadQuery.Saying("status is one of 1xx, 2xx, 3xx, 4xx and 5xx")
	}
	for name, into := range map[string]*time.Time{"from": &q.From, "to": &q.To} {
		if *into, err = moment(form.Get(name)); err != nil {
			return q, adminapi.BadQuery.Saying(name + " is no time: write 2026-11-21 or 2026-11-21T15:00:00Z, in UTC")
		}
	}
	if after := form.Get("after"); after != "" {
		var ok bool
		if q.Before, ok = number(after); !ok || q.Before == 0 {
			return q, adminapi.BadQuery.Saying("after is the next of the page before, as it was sent")
		}
	}
	return q, t.confine(r.Context(), &q, who)
}

// confine leaves who may not read everything their own applications.
func (t *Trail) confine(ctx context.Context, q *event.Query, who admin.Actor) error {
	if t.c.Archive == nil {
		return noTrail
	}
	if who.Reader() == nil {
		return nil
	}
	q.Apps = []string{}
	own, _, err := t.c.Store.Apps(ctx, who.Sub, "", event.MaxApps)
	for _, a := range own {
		if who.Sees(a.Owner) {
			q.Apps = append(q.Apps, a.ID)
		}
	}
	return err
}

// named puts the ids of those whom a person names in a page's filters into its request. A name that nobody has is told
// beside the page.
func (t *Trail) named(r *http.Request, who admin.Actor) (*http.Request, error) {
	form := r.URL.Query()
	for _, f := range []struct {
		field string
		find  func(ctx context.Context, who admin.Actor, field, text string) (string, error)
	}{{"sub", t.c.Finder.Sub}, {"client_id", t.app}, {"agent", t.agent}} {
		text := strings.TrimSpace(form.Get(f.field))
		if text == "" {
			continue
		}
		id, err := f.find(r.Context(), who, f.field, text)
		if err != nil {
			return r, err
		}
		form.Set(f.field, id)
	}
	asked := r.Clone(r.Context())
	asked.URL.RawQuery = form.Encode()
	return asked, nil
}

// app returns the client_id of the application that a person names.
func (t *Trail) app(ctx context.Context, who admin.Actor, field, text string) (string, error) {
	if text == storage.KeysAppID || text == storage.ConsoleAppID || client.IsID(text) {
		return text, nil
	}
	return t.c.Finder.AppID(ctx, who, field, text)
}

// agent returns the id of the one that acts whom a person names: an application, which most are, or else a user.
func (t *Trail) agent(ctx context.Context, who admin.Actor, field, text string) (string, error) {
	id, err := t.app(ctx, who, field, text)
	if ui.FindsNone(err) {
		if sub, none := t.c.Finder.Sub(ctx, who, field, text); !ui.FindsNone(none) {
			return sub, none
		}
	}
	return id, err
}

func contains(all []string, id string) bool { return slices.Contains(all, id) }

// moment reads a time as a person, a field of a browser or a program writes it.
func moment(text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if at, err = time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return at, err
}

// number reads a Seq.
func number(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}

func nextOf(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return strconv.FormatUint(seq, 10)
}
