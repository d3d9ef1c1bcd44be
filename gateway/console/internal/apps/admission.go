package apps

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/claim"
)

// admission shows who may use an application, and what it learns of their groups and attributes.
type admission struct {
	Allow               []string     `json:"allow"` // everyone, unless there are others
	Deny                []string     `json:"deny"`
	GroupFilter         []string     `json:"group_filter"`
	GroupsInAccessToken bool         `json:"groups_in_access_token"`
	Claims              []claim.Rule `json:"claims"`
}

// admissionFields are those that administrators alone change (decision 115).
var admissionFields = []string{"allow", "deny", "group_filter", "groups_in_access_token", "claims"}

func admissionOf(a storage.App) admission {
	allow, deny := a.Admission.Lists()
	return admission{allow, deny, append([]string{}, a.GroupFilter...), a.GroupsInAccessToken,
		append([]claim.Rule{}, a.Claims...)}
}

// Open reports whether everybody may use the application.
func (v admission) Open() bool {
	return len(v.Deny) == 0 && len(v.Allow) == 1 && v.Allow[0] == access.SubjectEveryone
}

// ClaimsText is the claim rules as a form has them, "" for none.
func (v admission) ClaimsText() (string, error) {
	if len(v.Claims) == 0 {
		return "", nil
	}
	text, err := json.MarshalIndent(v.Claims, "", "  ")
	return string(text), err
}

// listed is a subject as a page shows it.
type listed struct{ Text, Sub string } // Sub of a user, "" of others

// Allowed returns the subjects who may use the application.
func (v admission) Allowed() []listed { return subjectsOf(v.Allow) }

// Denied returns those who may not.
func (v admission) Denied() []listed { return subjectsOf(v.Deny) }

func subjectsOf(list []string) (all []listed) {
	for _, text := range list {
		sub, is := strings.CutPrefix(text, access.SubjectUser+":")
		if !is {
			sub = ""
		}
		all = append(all, listed{text, sub})
	}
	return all
}

// people returns the subs of the users among the subjects.
func (v admission) people() (subs []string) {
	for _, one := range slices.Concat(v.Allowed(), v.Denied()) {
		if one.Sub != "" {
			subs = append(subs, one.Sub)
		}
	}
	return subs
}

// nameSubjects puts the sub of each user into the lists of a change, who may be named by username.
func (s *Apps) nameSubjects(ctx context.Context, who admin.Actor, c *appacts.Change) error {
	if who.Admin() != nil {
		return nil // it is refused, and nobody is looked for
	}
	for field, list := range map[string][]string{"allow": c.Allow, "deny": c.Deny} {
		for i, text := range list {
			list[i] = strings.TrimSpace(text)
			name, is := strings.CutPrefix(list[i], access.SubjectUser+":")
			if !is {
				continue
			}
			u, err := s.c.Finder.User(ctx, who, field, name)
			if ui.FindsNone(err) {
				err = &ui.Mistyped{Failure: noMember.Saying(field + ": no user is called " + ui.Shown(name, 60) +
					": give a username or a sub"), Field: field}
			}
			if err != nil {
				return err
			}
			list[i] = access.SubjectUser + ":" + u.Sub
		}
	}
	return nil
}

// learnsFields are those of the form of what an application learns.
var learnsFields = map[string]ui.Kind{"group_filter": ui.Lines, "groups_in_access_token": ui.Bool, "claims": ui.Text}

// typedClaims has an action take the claim rules of a form, which are a text: an empty one is for none.
func typedClaims(do ui.Action) ui.Action {
	return func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		f, err := adminapi.ReadFields(w, r, append([]string{"client_id"}, admissionFields...)...)
		if err != nil {
			return nil, err
		}
		var typed string
		if err := f.Read("claims", "a text", &typed); err != nil {
			return nil, err
		}
		if typed = strings.TrimSpace(typed); typed == "" {
			typed = "[]"
		}
		if !json.Valid([]byte(typed)) {
			return nil, adminapi.BadBody.Saying("claims is not JSON")
		}
		f = maps.Clone(f)
		f["claims"] = json.RawMessage(typed)
		return do(w, adminapi.WithFields(r, f), who)
	}
}
