package trail

import (
	"context"
	"embed"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

//go:embed *.html
var pages embed.FS

var (
	listPage   = ui.Parse(pages, "list.html", "parts.html")
	recordPage = ui.Parse(pages, "record.html", "parts.html")
	chainPage  = ui.Parse(pages, "chain.html")
)

// Archive is the trail as it is read.
type Archive interface {
	Search(ctx context.Context, q event.Query) (event.Page, error)
	State(ctx context.Context) (event.TrailState, error)
	Verify(ctx context.Context, read func(records int)) (event.TrailReport, error)
}

// Config holds what New needs.
type Config struct {
	Archive  Archive // nil: there is nothing to see
	Store    *storage.Store
	Finder   *ui.Finder // of those who are named in a filter
	Recorder admin.Recorder
}

// Trail is this part of the console.
type Trail struct {
	c     Config
	check *check
}

// New makes a Trail. Close ends what it does in the background.
func New(c Config) *Trail { return &Trail{c: c, check: newCheck()} }

// Close ends a verification that runs.
func (t *Trail) Close() { t.check.close() }

// Part returns the endpoints and pages.
func (t *Trail) Part() ui.Part {
	reader, administrator := []consoleauth.Check{admin.Actor.Reader}, []consoleauth.Check{admin.Actor.Admin}
	type by = map[string]ui.Action
	return ui.Part{
		APIs: []ui.API{
			{Path: "/api/console/audit", Owned: true, Methods: by{"GET": t.list}},
			{Path: "/api/console/audit/{seq}", Owned: true, Methods: by{"GET": t.show}},
			{Path: "/api/console/audit/export", Owned: true, Raw: map[string]ui.Raw{"GET": t.export}},
			{Path: "/api/console/audit/chain", May: reader, Changes: administrator,
				Methods: by{"GET": t.chain, "POST": t.verify}},
		},
		Pages: []ui.Page{
			{Path: "/console/audit", Title: "Audit trail", Section: "Service", Owned: true, Get: t.browse,
				Template: listPage, Names: namesOf},
			{Path: "/console/audit/{seq}", Title: "Record of the audit trail", Owned: true, Get: t.showOne,
				Template: recordPage, Names: namesOf},
			{Path: "/console/audit/chain", Title: "Chain of the audit trail", May: reader, Get: t.chain, Template: chainPage,
				Acts: map[string]ui.Act{
					"verify": {Says: "Verify the audit trail", Do: t.verify, May: administrator,
						Done: "The verification runs. Load this page again to see how far it is."},
				}},
		},
		Texts: texts,
	}
}

var (
	// protocol 7
	noRecord = &reply.Failure{Status: 404,
		Msg: "no such record, or it was removed because of its age: see GET /api/console/audit for those there are"}
	// protocol 7
	noTrail = &reply.Failure{Status: 404,
		Msg: "the audit trail is not shown here: the host of this service did not give it to the console"}
	// protocol 7
	running = &reply.Failure{Status: 409, Msg: "a verification runs already: wait for its result"}
)

// record shows an event.
type record struct {
	Seq       uint64   `json:"seq"`
	At        string   `json:"at"`
	Kind      string   `json:"kind"`
	RequestID string   `json:"request_id"`
	App       string   `json:"client_id"`
	User      string   `json:"sub"`
	Act       []string `json:"act"` // who acts for the user by delegation, the current one first
	Product   string   `json:"product"`
	Method    string   `json:"method"`
	Path      string   `json:"path"`
	IP        string   `json:"ip"`
	Detail    string   `json:"detail"`
	Status    int      `json:"status"`
	Micros    int64    `json:"latency_us"`
	Bytes     int64    `json:"bytes"`
	Count     int64    `json:"count"` // events that it stands for
}

const stampOf = "2006-01-02T15:04:05.000Z"

func recordOf(e event.Entry) record {
	return record{
		Seq: e.Seq, At: e.At.UTC().Format(stampOf), Kind: e.Kind, RequestID: e.RequestID, App: e.App, User: e.User,
		Act: append([]string{}, e.Actors...), Product: e.Product, Method: e.Method,
		Path: e.Path, IP: e.IP, Detail: e.Detail, Status: e.Status, Micros: int64(e.Latency / time.Microsecond),
		Bytes: e.Bytes, Count: max(1, e.Count),
	}
}

// list serves GET /api/console/audit.
func (t *Trail) list(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	q, err := t.query(r, who)
	if err != nil {
		return nil, err
	}
	q.Limit = pageSize
	page, err := t.c.Archive.Search(r.Context(), q)
	if err != nil {
		return nil, adminapi.Refusal(err, noRecord)
	}
	v := found{Records: []record{}, Next: nextOf(page.Next), Stopped: page.Stopped}
	if page.Stopped {
		v.Reached = adminapi.Stamp(page.Reached)
	}
	for _, e := range page.Entries {
		v.Records = append(v.Records, recordOf(e))
	}
	return v, nil
}

// found is a page of records.
type found struct {
	Records []record `json:"records"`
	Next    string   `json:"next"`    // send it as after for older ones; "": there are none
	Stopped bool     `json:"stopped"` // the search has read as much as one may: there may be more behind next
	Reached *string  `json:"reached"` // how far back it came then
}

// show serves GET /api/console/audit/{seq}.
func (t *Trail) show(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	seq, ok := number(r.PathValue("seq"))
	if !ok || seq == 0 || seq+1 == 0 {
		return nil, noRecord
	}
	q := event.Query{Before: seq + 1, Limit: 1}
	if err := t.confine(r.Context(), &q, who); err != nil {
		return nil, err
	}
	mine := q.Apps
	q.Apps = nil // by the number alone it is one read
	page, err := t.c.Archive.Search(r.Context(), q)
	if err != nil {
		return nil, err
	}
	for _, e := range page.Entries {
		if e.Seq == seq && (mine == nil || contains(mine, e.App)) {
			return recordOf(e), nil
		}
	}
	return nil, noRecord
}
