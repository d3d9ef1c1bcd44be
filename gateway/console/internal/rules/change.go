package rules

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// add serves POST /api/console/access/{member}.
func (s *Rules) add(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	var n access.Rule
	err := adminapi.ReadInto(w, r, adminapi.Text("subject", &n.Subject), adminapi.Flag("deny", &n.Deny),
		adminapi.Texts("tools", &n.Tools), adminapi.Flag("read_only", &n.ReadOnly))
	if err != nil {
		return nil, err
	}
	if n.Subject, err = s.subject(r.Context(), strings.TrimSpace(n.Subject)); err != nil {
		return nil, err
	}
	_, l, err := s.c.Acts.SetAccess(r.Context(), who, r.PathValue("member"), toolacts.AccessChange{Add: []access.Rule{n}})
	if err != nil {
		return nil, refusal(err, noCapability)
	}
	return ruleOf(l.Rules[len(l.Rules)-1]), nil
}

// remove serves DELETE /api/console/access/{member}/{id}. A form sends the id as a field.
func (s *Rules) remove(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	id, err := nameOf(w, r, "id")
	if err != nil {
		return nil, err
	}
	member, named := r.PathValue("member"), func(old access.Rule) bool { return idOf(old) == id }
	_, _, err = s.c.Acts.SetAccess(r.Context(), who, member, toolacts.AccessChange{Remove: named})
	return map[string]string{"member": member, "id": id}, refusal(err, noCapability)
}

// nameOf returns what a request is about, by its path or, of a form, by a field.
func nameOf(w http.ResponseWriter, r *http.Request, field string) (name string, err error) {
	if name = r.PathValue(field); name != "" {
		return name, nil
	}
	return adminapi.ReadText(w, r, field, "")
}

// refusal turns the error of an act into a failure: notThere, if what the request is about is missing.
func refusal(err error, notThere *reply.Failure) error {
	no := (*toolacts.Missing)(nil)
	if !errors.As(err, &no) {
		return adminapi.Refusal(err, notThere)
	}
	switch no.Kind {
	case "tool":
		return adminapi.BadBody.Saying(no.Of + " has no tool " + strconv.Quote(ui.Shown(no.Name, 60)) +
			": see its page for those it has")
	case "rule":
		return noRule
	case "user":
		return noUser
	case "application":
		return noApp
	}
	return notThere
}

// subject returns whom a rule is about as it is stored: a user by sub.
func (s *Rules) subject(ctx context.Context, text string) (string, error) {
	kind, name, _ := strings.Cut(text, ":")
	if kind != access.SubjectUser {
		return text, nil
	}
	u, err := s.user(ctx, name)
	return kind + ":" + u.Sub, err
}

// user returns a user by sub or by username.
func (s *Rules) user(ctx context.Context, name string) (storage.User, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 200 {
		return storage.User{}, noUser
	}
	u, err := s.c.User(ctx, name)
	if !errors.Is(err, storage.ErrNotFound) {
		return u, adminapi.Refusal(err, noUser)
	}
	some, _, err := s.c.Store.FindUsers(ctx, name, "", 10)
	if err != nil {
		return u, adminapi.Refusal(err, noUser)
	}
	for _, one := range some {
		if strings.EqualFold(one.Username, name) {
			return one, nil
		}
	}
	return u, noUser
}

func (s *Rules) app(ctx context.Context, id string) (storage.App, error) {
	if id = strings.TrimSpace(id); id == "" || len(id) > 500 {
		return storage.App{}, noApp
	}
	app, err := s.c.Store.App(ctx, id)
	return app, adminapi.Refusal(err, noApp)
}
