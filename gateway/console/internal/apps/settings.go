package apps

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// saveSettings changes what a form holds of an application. The algorithm that it has anyway is not written down.
func (s *Apps) saveSettings(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := adminapi.ReadFields(w, r, adminapi.Changeable...)
	if err != nil {
		return nil, err
	}
	var alg string
	if err := f.Read("id_token_alg", "a text", &alg); err != nil {
		return nil, err
	}
	if alg != "" {
		app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
		if err != nil {
			return nil, err
		}
		if app.SignsIDTokensWith() == alg {
			f = maps.Clone(f)
			delete(f, "id_token_alg")
		}
	}
	result, err := s.changeApp(w, adminapi.WithFields(r, f), who)
	if err != nil {
		return nil, heldField(err, f)
	}
	return appFacts{appRecord: result.(appRecord), Typed: moreThanHosts(r)}, nil
}

// heldField makes the refusal of one field of a form an error of that field, with which the form is shown again.
func heldField(err error, of adminapi.Fields) error {
	f := reply.FailureOf(err)
	field, _, _ := strings.Cut(f.Msg, ":")
	if f.Status == http.StatusForbidden && of[field] != nil {
		return &ui.Mistyped{Failure: f, Field: field}
	}
	return err
}

// switched switches an application off or on.
func (s *Apps) switched(off bool) ui.Action {
	return func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		value, err := json.Marshal(off)
		if err != nil {
			return nil, err
		}
		return s.changeApp(w, adminapi.WithFields(r, adminapi.Fields{"disabled": value}), who)
	}
}

// give gives an application to the user or the group:NAME that a form names; nobody, if it names none.
func (s *Apps) give(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	typed, err := adminapi.ReadText(w, r, "owner", "")
	if err != nil {
		return nil, err
	}
	owner := strings.TrimSpace(typed)
	if _, is := access.OwningGroup(owner); owner != "" && !is {
		u, err := s.c.Finder.User(r.Context(), who, "owner", owner)
		if err != nil {
			return nil, err
		}
		owner = u.Sub
	}
	value, err := json.Marshal(owner)
	if err != nil {
		return nil, err
	}
	return s.changeApp(w, adminapi.WithFields(r, adminapi.Fields{"owner": value}), who)
}

// moreThanHosts returns each domain of a form that is an address with a path, and what is stored of it.
func moreThanHosts(r *http.Request) (all []string) {
	f, err := adminapi.ReadFields(nil, r, slices.Concat(adminapi.Creatable, []string{adminapi.OverlapField})...)
	var domains []string
	if err != nil || f.Texts("domains", &domains) != nil {
		return nil
	}
	for _, typed := range domains {
		u, err := url.Parse(typed)
		host, wrong := storage.NormalizeDomain(typed)
		if err == nil && wrong == nil && u.Host != "" && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "") {
			all = append(all, ui.Shown(typed, 200)+" → "+host)
		}
	}
	return all
}

// hostsAlone says what is stored of domains that were typed with a path.
func hostsAlone(result any) *ui.Told {
	v, ok := result.(appFacts)
	if !ok || len(v.Typed) == 0 {
		return nil
	}
	return &ui.Told{Amber: true, List: v.Typed, Text: "It is saved. A domain is stored without a path, so every path " +
		"of it may be returned to. To allow one address alone, list it among the redirect URIs."}
}
