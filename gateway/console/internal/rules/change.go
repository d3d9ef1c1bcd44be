package rules

import (
	"context"
	"encoding/json"
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
	if n.Subject, err = s.subject(r.Context(), who, strings.TrimSpace(n.Subject)); err != nil {
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
	case "group":
		return noGroup
	case "application":
		return noApp
	}
	return notThere
}

// addByForm adds the rule of a form, which names whom it is about in fields of its own.
func (s *Rules) addByForm(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	var subject, kind, user, app, group string
	f, err := adminapi.ReadFields(w, r, "subject", "who", "user", "app", "group", "deny", "tools", "read_only")
	if err != nil {
		return nil, err
	}
	for name, into := range map[string]*string{"subject": &subject, "who": &kind, "user": &user, "app": &app,
		"group": &group} {
		if err := f.Read(name, "a text", into); err != nil {
			return nil, err
		}
	}
	switch {
	case subject != "":
	case kind == access.SubjectUser && strings.TrimSpace(user) == "":
		return nil, &ui.Mistyped{Failure: noPerson, Field: "user"}
	case kind == access.SubjectApp && strings.TrimSpace(app) == "":
		return nil, &ui.Mistyped{Failure: noNamed, Field: "app"}
	case kind == access.SubjectGroup && strings.TrimSpace(group) == "":
		return nil, &ui.Mistyped{Failure: noGroupNamed, Field: "group"}
	case kind == access.SubjectGroup:
		subject = kind + ":" + strings.TrimSpace(group)
	case kind == access.SubjectUser:
		subject = kind + ":" + user
	case kind == access.SubjectApp:
		subject = kind + ":" + app
	default:
		subject = kind
	}
	text, err := json.Marshal(subject)
	if err != nil {
		return nil, err
	}
	return s.add(w, adminapi.WithFields(r, adminapi.Fields{"subject": text, "deny": f["deny"], "tools": f["tools"],
		"read_only": f["read_only"]}), who)
}

// subject returns whom a rule is about as it is stored: a user by sub, an application by client_id.
func (s *Rules) subject(ctx context.Context, who admin.Actor, text string) (string, error) {
	kind, name, _ := strings.Cut(text, ":")
	switch kind {
	case access.SubjectUser:
		u, err := s.user(ctx, who, "user", name)
		return kind + ":" + u.Sub, err
	case access.SubjectApp:
		app, err := s.app(ctx, who, "app", name)
		return kind + ":" + app.ID, err
	}
	return text, nil
}

// user returns the user whom a field names, by sub or by name.
func (s *Rules) user(ctx context.Context, who admin.Actor, field, name string) (storage.User, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 200 {
		return storage.User{}, &ui.Mistyped{Failure: noUser, Field: field}
	}
	u, err := s.c.User(ctx, name)
	if !errors.Is(err, storage.ErrNotFound) {
		return u, adminapi.Refusal(err, noUser)
	}
	u, err = s.c.Finder.User(ctx, who, field, name)
	if ui.FindsNone(err) {
		err = &ui.Mistyped{Failure: noUser, Field: field}
	}
	return u, err
}

// app returns the application that a field names: any by its client_id, one that the actor may see by its name.
func (s *Rules) app(ctx context.Context, who admin.Actor, field, name string) (storage.App, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 500 {
		return storage.App{}, &ui.Mistyped{Failure: noApp, Field: field}
	}
	app, err := s.c.Store.App(ctx, name)
	if !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrInvalid) {
		return app, adminapi.Refusal(err, noApp)
	}
	app, err = s.c.Finder.App(ctx, who, field, name)
	if ui.FindsNone(err) {
		err = &ui.Mistyped{Failure: noApp, Field: field}
	}
	return app, err
}
