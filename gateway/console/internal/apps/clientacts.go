package apps

import (
	"maps"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
)

// setClient serves POST /api/console/clients/set: whether a client that has registered itself is disabled, and who may
// use a client of any kind.
func (s *Apps) setClient(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	known := append([]string{"disabled"}, admissionFields...)
	f, err := adminapi.ReadFields(w, r, append([]string{"client_id"}, known...)...)
	if err != nil {
		return nil, err
	}
	id := ""
	if err := f.Read("client_id", "a text", &id); err != nil {
		return nil, err
	}
	f = maps.Clone(f)
	delete(f, "client_id")
	c, err := f.AppChange()
	if err == nil {
		err = f.Any(known)
	}
	if err == nil {
		err = s.nameSubjects(r.Context(), who, &c)
	}
	if err != nil {
		return nil, err
	}
	switch app, err := appacts.ClientOf(r.Context(), s.c.Store, id); {
	case err != nil:
		return s.shown(r)(app, err)
	case c.Disabled == nil:
		_, app, err = s.c.Acts.Set(r.Context(), who, id, c)
		return s.shown(r)(app, err)
	case len(f) > 1:
		return nil, adminapi.BadBody.Saying("disabled ends what the client was granted: send it alone")
	}
	return s.shown(r)(s.c.Clients.Disable(r.Context(), who, id, *c.Disabled))
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
