package people

import (
	"encoding/json"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
)

// loginRecord shows a way to sign in.
type loginRecord struct {
	Method    string `json:"method"`
	Subject   string `json:"subject"` // the user's name in it
	CreatedAt string `json:"created_at"`
}

// exportRecord holds what is stored of a user, without secrets.
type exportRecord struct {
	User     detailedUser    `json:"user"`
	Logins   []loginRecord   `json:"logins"`
	Sessions []sessionRecord `json:"sessions"`
	Consents []grantRecord   `json:"consents"`
	Keys     []keyRecord     `json:"keys"`
	Groups   []memberRecord  `json:"groups"`
	Apps     []string        `json:"apps"` // client_ids; the first 100
}

// export serves POST /api/console/users/{sub}/export. It tells the user and is on the trail, so it is no GET: a page of
// another site could have a browser make it.
func (s *People) export(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	ctx, all := r.Context(), exportRecord{User: detailsOf(u), Logins: []loginRecord{}, Apps: []string{}}
	ways, err := s.c.Store.Logins(ctx, u.Sub)
	if err != nil {
		return nil, err
	}
	for _, l := range ways {
		all.Logins = append(all.Logins, loginRecord{l.Method, l.Subject, l.CreatedAt.UTC().Format(adminapi.ISO8601)})
	}
	if all.Sessions, err = s.live(ctx, u.Sub); err != nil {
		return nil, err
	}
	if _, all.Consents, err = s.grants(ctx, u.Sub); err != nil {
		return nil, err
	}
	if all.Keys, err = s.keys(ctx, u.Sub); err != nil {
		return nil, err
	}
	if all.Groups, err = s.memberships(ctx, u.Sub); err != nil {
		return nil, err
	}
	apps, _, err := s.c.Store.Apps(ctx, u.Sub, "", adminapi.PageSize)
	if err != nil {
		return nil, err
	}
	for _, a := range apps {
		all.Apps = append(all.Apps, a.ID)
	}
	return all, s.acts.Exported(ctx, who, u.Sub)
}

// download writes an export as a file.
func download(w http.ResponseWriter, all any) error {
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="user.json"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write(text)
	return nil
}
