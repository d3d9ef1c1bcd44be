package rules

import (
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/storage/access"
)

// bundleAccess holds who may use a bundle, as it is shown.
type bundleAccess struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

func bundleAccessOf(b access.Bundle) bundleAccess {
	shown := bundleAccess{b.Name, []rule{}}
	for _, r := range b.Rules {
		shown.Rules = append(shown.Rules, ruleOf(r))
	}
	return shown
}

// bundleRules serves GET /api/console/bundles/{name}/access. The rules name people, so they are for readers.
func (s *Rules) bundleRules(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := who.Reader(); err != nil {
		return nil, err
	}
	b, err := s.c.Store.Bundle(r.Context(), r.PathValue("name"))
	return bundleAccessOf(b), adminapi.Refusal(err, noBundle)
}

// addBundleRule serves POST /api/console/bundles/{name}/access.
func (s *Rules) addBundleRule(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	return s.addBundleRuleOf(w, r, who, r.PathValue("name"))
}

// addBundleRuleByForm adds a rule to the bundle that a form names.
func (s *Rules) addBundleRuleByForm(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := adminapi.ReadFields(w, r, "name", "subject", "deny")
	if err != nil {
		return nil, err
	}
	var name string
	if err := f.Read("name", "a text", &name); err != nil {
		return nil, err
	}
	return s.addBundleRuleOf(w, adminapi.WithFields(r, adminapi.Fields{"subject": f["subject"], "deny": f["deny"]}), who,
		name)
}

func (s *Rules) addBundleRuleOf(w http.ResponseWriter, r *http.Request, who admin.Actor, name string) (any, error) {
	var n access.Rule
	err := adminapi.ReadInto(w, r, adminapi.Text("subject", &n.Subject), adminapi.Flag("deny", &n.Deny))
	if err != nil {
		return nil, err
	}
	if n.Subject, err = s.subject(r.Context(), who, strings.TrimSpace(n.Subject)); err != nil {
		return nil, err
	}
	_, b, err := s.c.Acts.SetBundleAccess(r.Context(), who, name, toolacts.AccessChange{Add: []access.Rule{n}})
	if err != nil {
		return nil, refusal(err, noBundle)
	}
	return ruleOf(b.Rules[len(b.Rules)-1]), nil
}

// removeBundleRule serves DELETE /api/console/bundles/{name}/access/{id}. A form sends both as fields.
func (s *Rules) removeBundleRule(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	name, id := r.PathValue("name"), r.PathValue("id")
	if id == "" {
		err := adminapi.ReadInto(w, r, adminapi.Text("name", &name), adminapi.Text("id", &id))
		if err != nil {
			return nil, err
		}
	}
	_, _, err := s.c.Acts.SetBundleAccess(r.Context(), who, name, toolacts.AccessChange{
		Remove: func(old access.Rule) bool { return idOf(old) == id },
	})
	return map[string]string{"name": name, "id": id}, refusal(err, noBundle)
}
