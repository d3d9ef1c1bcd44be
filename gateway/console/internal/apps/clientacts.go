package apps

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// setClient serves POST /api/console/clients/set, for a client that has registered itself.
func (s *Apps) setClient(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := adminapi.ReadFields(w, r, "client_id", "disabled")
	if err != nil {
		return nil, err
	}
	id, off := "", false
	if err := errors.Join(f.Read("client_id", "a text", &id), f.Read("disabled", "true or false", &off)); err != nil {
		return nil, err
	}
	if f["disabled"] == nil {
		return nil, adminapi.BadBody.Saying("disabled is missing: true or false")
	}
	return s.shown(r)(s.c.Clients.Disable(r.Context(), who, id, off))
}

// refetch serves POST /api/console/clients/refetch: the document is read again at the next sign-in.
func (s *Apps) refetch(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	id, err := adminapi.ReadText(w, r, "client_id", "")
	if err != nil {
		return nil, err
	}
	return s.shown(r)(s.c.Clients.Refetch(r.Context(), who, id))
}

// shown shows a client that was changed, or says why it was not.
func (s *Apps) shown(r *http.Request) func(storage.App, error) (any, error) {
	return func(app storage.App, err error) (any, error) {
		if err != nil {
			return nil, adminapi.Refusal(err, noClient)
		}
		return s.factsOf(r, app)
	}
}

// forgetClient serves POST /api/console/clients/forget.
func (s *Apps) forgetClient(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	id, err := adminapi.ReadText(w, r, "client_id", "")
	if err != nil {
		return nil, err
	}
	app, err := s.c.Clients.Forget(r.Context(), who, id)
	return adminapi.DeletedOf(app), adminapi.Refusal(err, noClient)
}
