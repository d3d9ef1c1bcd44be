package mydata

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/event"
)

// Bounds of the audit records. One search reads a bounded part of the trail, and may find nothing there.
const (
	maxRecords  = 10_000
	maxSearches = 400
)

// record is an audit record about the user.
type record struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	App     string    `json:"client_id,omitempty"`
	Act     []string  `json:"act,omitempty"` // who acted for the user by delegation
	Product string    `json:"product,omitempty"`
	Method  string    `json:"method,omitempty"`
	Path    string    `json:"path,omitempty"`
	IP      string    `json:"ip,omitempty"`
	Status  int       `json:"status,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}

// recordOf returns what a user is given of a record. Of an administrator's act it has neither who nor where
// that was: these are about another person.
func recordOf(e event.Event) record {
	r := record{e.At, e.Kind, e.App, e.Actors, e.Product, e.Method, e.Path, e.IP, e.Status, e.Detail}
	if e.Kind == event.Admin {
		r.IP, r.Act, r.Detail = "", nil, withoutActor(e.Detail)
	}
	return r
}

// withoutActor removes who has acted from the detail of an administrator's act, "user set X by WHO: what".
func withoutActor(detail string) string {
	head, rest, ok := strings.Cut(detail, " by ")
	if !ok {
		return detail
	}
	who, what, ok := strings.Cut(rest, ": ")
	switch {
	case !ok:
		return head
	case strings.HasSuffix(who, ", continued"):
		head += ", continued"
	}
	return head + ": " + what
}

// records writes the newest records about a user, and reports whether these are all. A trail that cannot be
// read is no error: the file says that it is not complete.
func (p *Page) records(ctx context.Context, w io.Writer, sub string) (complete bool, err error) {
	if p.Audit == nil {
		return true, nil
	}
	q := event.Query{User: sub, Limit: event.MaxLimit}
	for n, searches := 0, 0; searches < maxSearches; searches++ {
		found, err := p.Audit.Search(ctx, q)
		if err != nil {
			p.Log.WarnContext(ctx, "the audit records of a user cannot all be read", "sub", sub, "error", err)
			return false, ctx.Err()
		}
		var out bytes.Buffer
		for _, e := range found.Entries {
			if n == maxRecords {
				_, err := w.Write(out.Bytes())
				return false, err
			}
			text, err := json.Marshal(recordOf(e.Event))
			if err != nil {
				return false, err
			}
			if n > 0 {
				out.WriteByte(',')
			}
			out.WriteString("\n    ")
			out.Write(text)
			n++
		}
		if _, err := w.Write(out.Bytes()); err != nil {
			return false, err
		}
		if found.Next == 0 {
			return true, nil
		}
		q.Before = found.Next
	}
	return false, nil
}
