package groups

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/storage/groups"
)

// groupRecord shows a group.
type groupRecord struct {
	Name      string   `json:"name"`
	Label     string   `json:"label"`
	Managers  []string `json:"managers"` // subs
	CreatedAt string   `json:"created_at"`
	UpdatedAt string   `json:"updated_at"`
}

func recordOf(g groups.Group) groupRecord {
	return groupRecord{g.Name, g.Label, append([]string{}, g.Managers...), g.CreatedAt.UTC().Format(adminapi.ISO8601),
		g.UpdatedAt.UTC().Format(adminapi.ISO8601)}
}

// groupList is a page of groups.
type groupList struct {
	Groups []groupRecord `json:"groups"`
	Next   string        `json:"next"` // send it as after for more; "": there is no more
}

// list serves GET /api/console/groups?q=&after=: those whose name or label begins with a text. Readers who may not see
// all are shown those that they manage; a page of these may have fewer than there is room for.
func (s *Groups) list(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	q := adminapi.QueryOf(r, "q")
	from, err := adminapi.FromPlace(r)
	if err != nil {
		return nil, err
	}
	if len(q) > adminapi.MaxQuery {
		return nil, adminapi.BadQuery.Saying("q and after are texts of up to 1000 bytes")
	}
	var page []groups.Group
	var next string
	if who.Reader() == nil {
		page, next, err = s.c.Store.FindGroups(r.Context(), q, from, adminapi.PageSize)
	} else {
		page, next, err = s.c.Store.GroupsManagedBy(r.Context(), who.Sub, from, adminapi.PageSize)
	}
	if err != nil {
		return nil, adminapi.Refusal(err, noGroup)
	}
	all := groupList{Groups: []groupRecord{}, Next: adminapi.PlaceOf(next)}
	for _, g := range page {
		if g.Begins(q) {
			all.Groups = append(all.Groups, recordOf(g))
		}
	}
	return all, nil
}

// group returns the group of a path, if its reader may see it.
func (s *Groups) group(r *http.Request, who admin.Actor) (groups.Group, error) {
	g, err := s.c.Store.Group(r.Context(), r.PathValue("group"))
	if err == nil && !groupacts.Sees(who, g) {
		err = noGroup
	}
	return g, adminapi.Refusal(err, noGroup)
}

// show serves GET /api/console/groups/{name}.
func (s *Groups) show(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	g, err := s.group(r, who)
	return recordOf(g), err
}

// create serves POST /api/console/groups.
func (s *Groups) create(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	var g groups.Group
	var managers []string
	err := adminapi.ReadInto(w, r, adminapi.Text("name", &g.Name), adminapi.Text("label", &g.Label),
		adminapi.Texts("managers", &managers))
	if err == nil {
		g.Managers, err = s.subs(r, who, managers)
	}
	if err != nil {
		return nil, err
	}
	g, err = s.c.Acts.Create(r.Context(), who, g)
	return recordOf(g), adminapi.Refusal(err, noGroup)
}

// change serves PATCH /api/console/groups/{name}.
func (s *Groups) change(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	known := []string{"label", "managers"}
	f, err := adminapi.ReadFields(w, r, known...)
	if err == nil {
		err = f.Any(known)
	}
	var c groupacts.Change
	var managers []string
	err = errors.Join(err, f.Read("label", "a text", &c.Label), f.Texts("managers", &managers))
	if err == nil {
		c.Managers.Instead, err = s.subs(r, who, managers)
	}
	if err != nil {
		return nil, err
	}
	return s.set(r, who, c)
}

func (s *Groups) set(r *http.Request, who admin.Actor, c groupacts.Change) (any, error) {
	_, g, err := s.c.Acts.Set(r.Context(), who, r.PathValue("group"), c)
	return recordOf(g), adminapi.Refusal(err, noGroup)
}

// subs returns the users whom a list names by sub or by username, nil for none.
func (s *Groups) subs(r *http.Request, who admin.Actor, typed []string) (subs []string, err error) {
	if len(typed) > groups.MaxManagers {
		return nil, adminapi.BadBody.Saying("managers: at most 50")
	}
	if typed != nil {
		subs = []string{}
	}
	for _, text := range typed {
		u, err := s.c.Finder.User(r.Context(), who, "managers", text)
		if err != nil {
			return nil, err
		}
		subs = append(subs, u.Sub)
	}
	return subs, nil
}

// addManager makes a user whom a form names a manager.
func (s *Groups) addManager(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	u, err := s.typedUser(w, r, who)
	if err != nil {
		return nil, err
	}
	return s.set(r, who, groupacts.Change{Managers: groupacts.Managers{Add: []string{u.Sub}}})
}

// dropManager takes a manager whom a form names.
func (s *Groups) dropManager(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	sub, err := adminapi.ReadText(w, r, "sub", "")
	if err != nil {
		return nil, err
	}
	return s.set(r, who, groupacts.Change{Managers: groupacts.Managers{Drop: []string{sub}}})
}

// deletedGroup is the answer for a group that was deleted.
type deletedGroup struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

// remove serves DELETE /api/console/groups/{name}.
func (s *Groups) remove(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	name := r.PathValue("group")
	return deletedGroup{name, true}, adminapi.Refusal(s.c.Acts.Delete(r.Context(), who, name), noGroup)
}

// removeNamed deletes a group whose name was typed.
func (s *Groups) removeNamed(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	typed, err := adminapi.ReadText(w, r, "confirm", "")
	if err != nil {
		return nil, err
	}
	if typed != r.PathValue("group") {
		return nil, &ui.Mistyped{Failure: notNamed, Field: "confirm"}
	}
	return s.remove(w, adminapi.WithFields(r, adminapi.Fields{}), who)
}
