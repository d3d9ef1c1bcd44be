package apps

import (
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

// maxQuery bounds what is searched for, and the place where a search goes on, in bytes.
const maxQuery = 1000

// appList is a page of applications.
type appList struct {
	Apps []appRecord `json:"apps"`
	Next string      `json:"next"` // send it as after for more; "": there is no more
}

// listApps serves GET /api/console/apps?q=&owner=&after=: all, one owner's, or of these the ones that are
// found by the beginning of their name or client_id. Managers ask by owner for those of a group, which are on no other
// list: a list of one owner is read page by page.
func (s *Apps) listApps(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	owner := r.URL.Query().Get("owner")
	if group, is := access.OwningGroup(owner); owner != "" && !adminapi.IsID(owner) && !(is && access.IsGroupName(group)) {
		return nil, adminapi.BadQuery.Saying("owner is the sub of a user, or group:NAME")
	}
	if who.Reader() != nil && owner == "" {
		owner = who.Sub
	}
	list := s.everyApp
	if strings.TrimSpace(r.URL.Query().Get("q")) != "" {
		list = s.findApps
	}
	page, next, err := list(r, owner, owner == "" || who.Sees(owner))
	if err != nil {
		return nil, err
	}
	all := appList{Apps: []appRecord{}, Next: next}
	for _, a := range page {
		all.Apps = append(all.Apps, recordOf(a))
	}
	return all, nil
}

// browseApps is listApps for a page, which takes the owner by name.
func (s *Apps) browseApps(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	q := r.URL.Query()
	if _, is := access.OwningGroup(q.Get("owner")); q.Get("owner") == "" || who.Reader() != nil || is {
		return s.listApps(w, r, who)
	}
	sub, err := s.c.Finder.Sub(r.Context(), who, "owner", q.Get("owner"))
	if err != nil {
		return appList{}, err
	}
	q.Set("owner", sub)
	asked := r.Clone(r.Context())
	asked.URL.RawQuery = q.Encode()
	return s.listApps(w, asked, who)
}

// everyApp reads a page of all applications, or of one owner's; an empty one of those that may not be seen.
func (s *Apps) everyApp(r *http.Request, owner string, may bool) ([]storage.App, string, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil || !may {
		return nil, "", err
	}
	page, next, err := s.c.Store.Apps(r.Context(), owner, fromOf(owner, after), adminapi.PageSize)
	if next != "" {
		next = page[len(page)-1].ID
	}
	return page, next, err
}

// findApps is everyApp for those that are searched for.
func (s *Apps) findApps(r *http.Request, owner string, may bool) ([]storage.App, string, error) {
	q, after := strings.TrimSpace(r.URL.Query().Get("q")), r.URL.Query().Get("after")
	if len(q) > maxQuery || len(after) > maxQuery {
		return nil, "", adminapi.BadQuery.Saying("q and after are texts of up to 1000 bytes")
	}
	if !may {
		return nil, "", nil
	}
	page, next, err := s.c.Store.FindApps(r.Context(), q, owner, after, adminapi.PageSize)
	return page, next, adminapi.Refusal(err, noApp)
}

// fromOf returns where a list continues after an application: the list of all, or of one owner's.
func fromOf(owner, after string) string {
	switch {
	case after == "":
		return ""
	case owner == "":
		return driver.After("all", after)
	}
	return driver.After("owner="+owner, after)
}
