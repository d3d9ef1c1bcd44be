package people

import (
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// userRecord shows a user. Neither a password nor its hash is in it, or in storage.User.
type userRecord struct {
	Sub           string `json:"sub"`
	ID            int64  `json:"id"`
	Username      string `json:"username"`
	Name          string `json:"name"`
	Nickname      string `json:"nickname"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	Role          string `json:"role"` // admin, developer, auditor, or "" for none
	LoginType     string `json:"login_type"`
	Disabled      bool   `json:"disabled"`
	CreatedAt     string `json:"created_at"`
	UpdatedAt     string `json:"updated_at"`
}

// detailedUser is a user with what a list of them leaves out.
type detailedUser struct {
	userRecord
	Attributes map[string]string `json:"attributes"` // what the organization says of them
}

func detailsOf(u storage.User) detailedUser {
	d := detailedUser{userOf(u), u.Attributes}
	if d.Attributes == nil {
		d.Attributes = map[string]string{}
	}
	return d
}

// shownUser is a user with when they signed in last, as long as the session is kept.
type shownUser struct {
	detailedUser
	LastSignIn *string `json:"last_sign_in"` // null: no session is kept
	Erasing    bool    `json:"erasing"`      // an erasure has begun, and has to be finished
	Wait       wait    `json:"wait_until,omitzero"`

	Passwords bool `json:"-"` // a new password can be given
}

func userOf(u storage.User) userRecord {
	return userRecord{
		u.Sub, u.ID, u.Username, u.Name, u.Nickname, u.Email, u.EmailVerified, u.Role, u.LoginType, u.Disabled,
		u.CreatedAt.UTC().Format(adminapi.ISO8601), u.UpdatedAt.UTC().Format(adminapi.ISO8601),
	}
}

// userList is a page of users.
type userList struct {
	Users []userRecord `json:"users"`
	Next  string       `json:"next"` // send it as after for more; "": there is no more
}

// listUsers serves GET /api/console/users?q=&role=&after=: all, or those who are found by the beginning of
// a text or by their role.
func (s *People) listUsers(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	var page []storage.User
	var next string
	var err error
	q, role, after := adminapi.QueryOf(r, "q"), adminapi.QueryOf(r, "role"), r.URL.Query().Get("after")
	switch {
	case role != "" && role != storage.RoleAdmin && role != storage.RoleAuditor && role != storage.RoleDeveloper:
		return nil, adminapi.BadQuery.Saying("role is admin, auditor or developer")
	case len(q) > adminapi.MaxQuery || len(after) > adminapi.MaxQuery:
		return nil, adminapi.BadQuery.Saying("q and after are texts of up to 1000 bytes")
	case role != "":
		page, next, err = s.c.Store.FindUsersWithRole(r.Context(), role, q, after, adminapi.PageSize)
		err = adminapi.Refusal(err, noUser)
	case q != "":
		page, next, err = s.c.Store.FindUsers(r.Context(), q, after, adminapi.PageSize)
		err = adminapi.Refusal(err, noUser)
	default:
		if after, err = adminapi.AfterOf(r); err == nil {
			page, next, err = s.c.Store.Users(r.Context(), fromOf(after), adminapi.PageSize)
		}
		if next != "" {
			next = page[len(page)-1].Sub
		}
	}
	if err != nil {
		return nil, err
	}
	all := userList{Users: []userRecord{}, Next: next}
	for _, u := range page {
		all.Users = append(all.Users, userOf(u))
	}
	return all, nil
}

// fromOf returns where the list of all users continues after one.
func fromOf(after string) string {
	if after == "" {
		return ""
	}
	return driver.After("all", after)
}

// showUser serves GET /api/console/users/{sub}.
func (s *People) showUser(w http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	u, err := s.c.Store.User(r.Context(), r.PathValue("sub"))
	if err != nil {
		return nil, adminapi.Refusal(err, noUser)
	}
	all, err := s.c.Store.Sessions(r.Context(), u.Sub)
	if err != nil {
		return nil, err
	}
	var last time.Time
	for _, v := range all {
		if v.AuthTime.After(last) {
			last = v.AuthTime
		}
	}
	return shownUser{detailsOf(u), adminapi.Stamp(last), u.Erasing, s.waitOf(r.Context(), u),
		s.c.Acts.SetPassword != nil}, nil
}

// createUser serves POST /api/console/users: a user who signs in with a password.
func (s *People) createUser(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if s.c.Acts.Create == nil {
		return nil, notMade
	}
	var u storage.User
	password := ""
	err := adminapi.ReadInto(w, r, adminapi.Text("username", &u.Username), adminapi.Text("password", &password),
		adminapi.Text("role", &u.Role), adminapi.Text("nickname", &u.Nickname), adminapi.Text("email", &u.Email))
	if err != nil {
		return nil, err
	}
	u, err = s.acts.Create(r.Context(), who, u, password)
	return userOf(u), adminapi.Refusal(err, noUser)
}

// changeUser serves PATCH /api/console/users/{sub}.
func (s *People) changeUser(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	known := []string{"role", "disabled", "nickname", "attributes"}
	f, err := adminapi.ReadFields(w, r, known...)
	if err == nil {
		err = f.Any(known)
	}
	var c useracts.Change
	err = errors.Join(err, f.Read("role", "a text", &c.Role), f.Read("disabled", "true or false", &c.Disabled),
		f.Read("nickname", "a text", &c.Nickname),
		f.Read("attributes", "an object of texts, and of null for those that go", &c.Attributes))
	if err != nil {
		return nil, err
	}
	done, err := s.acts.Set(r.Context(), who, r.PathValue("sub"), c)
	return detailsOf(done.After), adminapi.Refusal(err, noUser)
}

// username returns the username of the user whom a page is about.
func (s *People) username(r *http.Request, _ admin.Actor) (string, error) {
	u, err := s.c.Store.User(r.Context(), r.PathValue("sub"))
	return u.Username, err
}
