package rules

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// own returns a capability whose rules somebody may change.
func (s *Rules) own(r *http.Request, who admin.Actor) (storage.Capability, error) {
	c, err := s.capability(r, who)
	if err == nil && !who.Changes(c.Owner) {
		err = admin.NotAllowed
	}
	return c, err
}

// add serves POST /api/console/access/{member}.
func (s *Rules) add(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := manage.ReadFields(w, r, "subject", "deny", "tools", "read_only")
	if err != nil {
		return nil, err
	}
	var n access.Rule
	for _, err := range []error{f.Read("subject", "a text", &n.Subject), f.Read("deny", "true or false", &n.Deny), f.Texts("tools", &n.Tools), f.Read("read_only", "true or false", &n.ReadOnly)} {
		if err != nil {
			return nil, err
		}
	}
	c, err := s.own(r, who)
	if err != nil {
		return nil, err
	}
	if n.Subject, err = s.subject(r.Context(), strings.TrimSpace(n.Subject)); err != nil {
		return nil, err
	}
	slices.Sort(n.Tools)
	n.Tools = slices.Compact(n.Tools)
	if err := s.hasTools(r.Context(), c.Member, n.Tools); err != nil {
		return nil, err
	}
	other := n
	other.Deny, n.Operator = !n.Deny, who.Admin() == nil
	return ruleOf(n), s.change(r, who, c.Member, func(rules []access.Rule) ([]access.Rule, error) {
		replaced := func(old access.Rule) bool { return old.Same(n) || old.Same(other) }
		if err := mayRemove(who, rules, replaced); err != nil {
			return nil, err
		}
		return append(slices.DeleteFunc(rules, replaced), n), nil
	})
}

// remove serves DELETE /api/console/access/{member}/{id}. A form sends the id as a field.
func (s *Rules) remove(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	id := r.PathValue("id")
	if id == "" {
		f, err := manage.ReadFields(w, r, "id")
		if err != nil {
			return nil, err
		}
		if err := f.Read("id", "a text", &id); err != nil {
			return nil, err
		}
	}
	c, err := s.own(r, who)
	if err != nil {
		return nil, err
	}
	return map[string]string{"member": c.Member, "id": id}, s.change(r, who, c.Member, func(rules []access.Rule) ([]access.Rule, error) {
		named := func(old access.Rule) bool { return idOf(old) == id }
		if err := mayRemove(who, rules, named); err != nil {
			return nil, err
		}
		less := slices.DeleteFunc(slices.Clone(rules), named)
		if len(less) == len(rules) {
			return nil, noRule
		}
		return less, nil
	})
}

// mayRemove refuses to take rules away from an owner who did not set them.
func mayRemove(who admin.Actor, rules []access.Rule, which func(access.Rule) bool) error {
	for _, r := range rules {
		if r.Operator && which(r) && who.Admin() != nil {
			return operators
		}
	}
	return nil
}

// change writes a list anew, and on the trail what of it is different.
func (s *Rules) change(r *http.Request, who admin.Actor, member string, edit func([]access.Rule) ([]access.Rule, error)) error {
	var before, after []access.Rule
	_, err := storage.RetryOnConflict(r.Context(), func() (access.List, error) {
		l, err := s.c.Store.Access(r.Context(), member)
		if err != nil {
			return l, err
		}
		before = l.Rules
		if after, err = edit(slices.Clone(l.Rules)); err != nil {
			return l, err
		}
		l.Rules = after
		return s.c.Store.SaveAccess(r.Context(), l)
	})
	if err != nil {
		return manage.Refusal(err, noCapability)
	}
	changes := []string{strconv.Itoa(len(before)) + " rules -> " + strconv.Itoa(len(after))}
	changes = append(changes, gone("- ", before, after)...)
	changes = append(changes, gone("+ ", after, before)...)
	return s.c.Recorder.Note(r.Context(), who, admin.Act{What: "capability access", On: member, Changes: changes})
}

// gone writes the rules of one list that another has not.
func gone(sign string, from, in []access.Rule) (all []string) {
	for _, r := range from {
		if !slices.ContainsFunc(in, r.Same) {
			all = append(all, sign+says(r))
		}
	}
	return all
}

// subject returns whom a rule is about as it is stored: a user by sub, and nobody who is not there.
func (s *Rules) subject(ctx context.Context, text string) (string, error) {
	switch kind, name, _ := strings.Cut(text, ":"); kind {
	case access.SubjectUser:
		u, err := s.user(ctx, name)
		if err != nil {
			return "", err
		}
		return access.SubjectUser + ":" + u.Sub, nil
	case access.SubjectApp:
		if _, err := s.app(ctx, name); err != nil {
			return "", err
		}
	}
	if _, err := access.ParseSubject(text); err != nil {
		return "", manage.Refusal(err, noCapability)
	}
	return text, nil
}

// user returns a user by sub or by username.
func (s *Rules) user(ctx context.Context, name string) (storage.User, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 200 {
		return storage.User{}, noUser
	}
	u, err := s.c.Store.User(ctx, name)
	if !errors.Is(err, storage.ErrNotFound) {
		return u, manage.Refusal(err, noUser)
	}
	some, _, err := s.c.Store.FindUsers(ctx, name, "", 10)
	if err != nil {
		return u, manage.Refusal(err, noUser)
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
	return app, manage.Refusal(err, noApp)
}

// hasTools refuses names that a capability does not have. The tools of an MCP endpoint come and go,
// and are not looked for.
func (s *Rules) hasTools(ctx context.Context, member string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	c, tools, err := s.c.Store.Tools(ctx, member)
	if err != nil || c.AutoDiscover() {
		return manage.Refusal(err, noCapability)
	}
	for _, name := range names {
		if name != "*" && !slices.ContainsFunc(tools, func(t toolplan.Tool) bool { return t.Name == name }) {
			return manage.BadBody.Saying(member + " has no tool " + strconv.Quote(shown(name, 60)) + ": see its page for those it has")
		}
	}
	return nil
}
