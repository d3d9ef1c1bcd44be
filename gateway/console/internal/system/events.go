package system

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/record/notify"
)

// eventRecord shows one that waits or was given up. It does not say where it goes: a URL may hold a key.
type eventRecord struct {
	ID         string  `json:"id"`
	Event      string  `json:"event"`
	CreatedAt  string  `json:"created_at"`
	Waiting    bool    `json:"waiting"` // false: it was given up
	NextAt     *string `json:"next_at"` // null: it was given up
	Attempts   int     `json:"attempts"`
	LastStatus int     `json:"last_status"` // of HTTP; 0: no answer
	LastError  string  `json:"last_error"`
	Dropped    int     `json:"dropped"` // before it, because too many waited
}

type eventsRecord struct {
	App    string        `json:"client_id"` // "": events of users, for the operator
	Host   string        `json:"host"`      // where events of users go; "": nowhere, or it is an application's
	Events []eventRecord `json:"events"`
}

// listEvents serves GET /api/console/events?client_id=: the newest come last.
func (s *System) listEvents(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	v, queue := eventsRecord{App: shown(r.URL.Query().Get("client_id")), Events: []eventRecord{}}, notify.Users
	if v.App != "" {
		queue = notify.App(v.App)
	} else {
		to, _, err := s.c.Store.UserWebhook(r.Context())
		if err != nil {
			return nil, err
		}
		if u, err := url.Parse(to); err == nil {
			v.Host = u.Host
		}
	}
	all, err := s.c.Store.Deliveries(r.Context(), queue)
	for _, d := range all[max(0, len(all)-adminapi.PageSize):] {
		one := eventRecord{
			ID: d.ID, Event: d.Event, CreatedAt: d.CreatedAt.UTC().Format(adminapi.ISO8601), Waiting: d.Waiting(),
			Attempts:   d.Attempts,
			LastStatus: d.LastStatus, LastError: shown(d.LastError), Dropped: d.Dropped,
		}
		if one.Waiting {
			one.NextAt = adminapi.Stamp(d.NextAt)
		}
		v.Events = append(v.Events, one)
	}
	return v, err
}

// browseEvents is listEvents for a page, whose filter takes the name of an application.
func (s *System) browseEvents(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	form := r.URL.Query()
	typed := strings.TrimSpace(form.Get("client_id"))
	if typed == "" {
		return s.listEvents(w, r, who)
	}
	id, err := s.c.Finder.AppID(r.Context(), who, "client_id", typed)
	if err != nil {
		return eventsRecord{Events: []eventRecord{}}, err
	}
	form.Set("client_id", id)
	asked := r.Clone(r.Context())
	asked.URL.RawQuery = form.Encode()
	return s.listEvents(w, asked, who)
}

func namesOfEvents(data any) (apps, users []string) { return []string{data.(eventsRecord).App}, nil }
