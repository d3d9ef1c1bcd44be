package groups

import (
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/storage"
)

// memberRecord shows a member of a group.
type memberRecord struct {
	Sub      string `json:"sub"`
	Username string `json:"username"`
	By       string `json:"by"` // the connector that has added them, and removes them; "": somebody did by hand
	Since    string `json:"since"`
}

// memberList is a page of the members of a group.
type memberList struct {
	Members []memberRecord `json:"members"`
	Next    string         `json:"next"` // send it as after for more; "": there is no more

	Group   groupRecord `json:"-"` // for the page
	Changes bool        `json:"-"` // the reader may
}

// members serves GET /api/console/groups/{name}/members?after=.
func (s *Groups) members(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	from, err := adminapi.FromPlace(r)
	if err != nil {
		return nil, err
	}
	g, err := s.group(r, who)
	if err != nil {
		return nil, err
	}
	page, next, err := s.c.Store.Members(r.Context(), g, from, adminapi.PageSize)
	if err != nil {
		return nil, adminapi.Refusal(err, noGroup)
	}
	all := memberList{Members: []memberRecord{}, Next: adminapi.PlaceOf(next), Group: recordOf(g),
		Changes: groupacts.ChangesMembers(who, g)}
	var subs []string
	for _, m := range page {
		subs = append(subs, m.Sub)
	}
	_, names, err := s.c.Names.Of(r.Context(), who.User, nil, append(subs, g.Managers...))
	for _, m := range page {
		all.Members = append(all.Members, memberRecord{m.Sub, names[m.Sub], m.By, m.At.UTC().Format(adminapi.ISO8601)})
	}
	return all, err
}

// addedMember is the answer for a member who was added.
type addedMember struct {
	Group string `json:"group"`
	Sub   string `json:"sub"`
	Added bool   `json:"added"` // false: they were a member before
}

// addMember serves POST /api/console/groups/{name}/members.
func (s *Groups) addMember(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	g, err := s.group(r, who)
	if err != nil {
		return nil, err
	}
	u, err := s.typedUser(w, r, who)
	if err != nil {
		return nil, err
	}
	added, err := s.c.Acts.AddMember(r.Context(), who, g.Name, u.Sub)
	return addedMember{g.Name, u.Sub, added}, adminapi.Refusal(err, noGroup)
}

// removedMember is the answer for a member who was removed.
type removedMember struct {
	Group   string `json:"group"`
	Sub     string `json:"sub"`
	Removed bool   `json:"removed"`
}

// removeMember serves DELETE /api/console/groups/{name}/members/{sub}.
func (s *Groups) removeMember(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	g, err := s.group(r, who)
	if err != nil {
		return nil, err
	}
	sub, err := s.c.Finder.Sub(r.Context(), who, "sub", r.PathValue("sub"))
	if err != nil {
		return nil, err
	}
	removed, err := s.c.Acts.RemoveMember(r.Context(), who, g.Name, sub)
	if err == nil && !removed {
		err = noMember
	}
	return removedMember{g.Name, sub, removed}, adminapi.Refusal(err, noGroup)
}

// removeChosen removes the members whom a form names by sub, and passes over those who are none.
func (s *Groups) removeChosen(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	var subs []string
	if err := adminapi.ReadInto(w, r, adminapi.Texts("ids", &subs)); err != nil {
		return nil, err
	}
	if len(subs) == 0 || len(subs) > adminapi.PageSize {
		return nil, notChosen
	}
	for _, sub := range subs {
		if _, err := s.c.Acts.RemoveMember(r.Context(), who, r.PathValue("group"), sub); err != nil {
			return nil, adminapi.Refusal(err, noGroup)
		}
	}
	return nil, nil
}

// typedUser returns the user whom the field user names, by sub or by username.
func (s *Groups) typedUser(w http.ResponseWriter, r *http.Request, who admin.Actor) (storage.User, error) {
	typed, err := adminapi.ReadText(w, r, "user", "")
	if err != nil {
		return storage.User{}, err
	}
	return s.c.Finder.User(r.Context(), who, "user", typed)
}
