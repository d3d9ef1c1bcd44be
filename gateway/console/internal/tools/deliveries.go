package tools

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/toolacts"
)

// delivery shows an event on its way to a webhook.
type delivery struct {
	ID         string `json:"id"`
	Event      string `json:"event"`
	URL        string `json:"url"`
	CreatedAt  string `json:"created_at"`
	NextAt     string `json:"next_at"`
	Attempts   int    `json:"attempts"`
	LastStatus int    `json:"last_status"`
	LastError  string `json:"last_error"`
	Waiting    bool   `json:"waiting"` // false: it was given up
}

// deliveries serves GET /api/console/deliveries/{member}: what waits for a capability's webhook, and
// what was given up. The newest come last.
func (t *Tools) deliveries(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	c, err := t.seen(r, who)
	if err != nil {
		return nil, err
	}
	all, err := t.c.Store.Deliveries(r.Context(), c.Member)
	if err != nil {
		return nil, err
	}
	record := struct {
		Member     string     `json:"member"`
		Deliveries []delivery `json:"deliveries"`
		Mine       bool       `json:"-"`
	}{c.Member, []delivery{}, who.Changes(c.Owner)}
	for _, d := range all[max(0, len(all)-adminapi.PageSize):] {
		record.Deliveries = append(record.Deliveries, delivery{
			d.ID, d.Event, address(d.URL, record.Mine), d.CreatedAt.UTC().Format(adminapi.ISO8601),
			d.NextAt.UTC().Format(adminapi.ISO8601),
			d.Attempts, d.LastStatus, ui.Shown(d.LastError, 200), d.Waiting(),
		})
	}
	return record, nil
}

// resend serves POST /api/console/deliveries/{member}/{id}/resend: what was given up waits again.
func (t *Tools) resend(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	id, err := adminapi.ReadText(w, r, "id", r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	_, err = t.c.Acts.Resend(r.Context(), who, r.PathValue("member"), id)
	if no := (*toolacts.Missing)(nil); errors.As(err, &no) {
		return nil, map[string]error{"capability": noCapability, "delivery": noDelivery}[no.Kind]
	}
	return map[string]string{"id": id}, err
}
