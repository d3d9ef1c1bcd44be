package rules

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/toolplan"
)

// bundle is a bundle as it is shown.
type bundle struct {
	Name        string   `json:"name"`
	Label       string   `json:"label"`
	Description string   `json:"description"`
	Tools       []string `json:"tools"`
	More        int      `json:"more"` // tools that are not shown
	Path        string   `json:"path"`
	Scope       string   `json:"scope"`
	CreatedAt   string   `json:"created_at"`
	Rules       []rule   `json:"-"` // for readers, as GET .../access shows them
}

func bundleOf(b access.Bundle) bundle {
	return bundle{
		b.Name, ui.Shown(b.Label, 100), ui.Shown(b.Description, 300),
		append([]string{}, b.Tools[:min(len(b.Tools), maxTools)]...),
		max(0, len(b.Tools)-maxTools),
		"/api/mcp/b/" + b.Name, "tools:b:" + b.Name, b.CreatedAt.UTC().Format(adminapi.ISO8601), bundleAccessOf(b).Rules,
	}
}

// bundleList is a page of bundles.
type bundleList struct {
	Bundles []bundle `json:"bundles"`
	Next    string   `json:"next"`
}

// bundles serves GET /api/console/bundles. They open nothing, so everybody of the console sees them;
// the tools of others stay out of what a developer reads.
func (s *Rules) bundles(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	all, next, err := s.c.Store.Bundles(r.Context(), after, rows)
	if err != nil {
		return nil, err
	}
	record := bundleList{[]bundle{}, next}
	for _, b := range all {
		one := bundleOf(b)
		if who.Reader() != nil {
			one.Tools, one.More, one.Rules = []string{}, len(b.Tools), nil
		}
		record.Bundles = append(record.Bundles, one)
	}
	return record, nil
}

// maxNamed bounds how many capabilities a bundle may name, each of which is read.
const maxNamed = 50

// makeBundle serves POST /api/console/bundles.
func (s *Rules) makeBundle(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	var b access.Bundle
	if err := adminapi.ReadInto(w, r, adminapi.Text("name", &b.Name), adminapi.Text("label", &b.Label),
		adminapi.Text("description", &b.Description), adminapi.Texts("tools", &b.Tools)); err != nil {
		return nil, err
	}
	if len(b.Tools) > maxNamed {
		named := map[string]bool{}
		for _, name := range b.Tools {
			member, _, _ := toolplan.SplitName(name)
			named[member] = true
		}
		if len(named) > maxNamed {
			return nil, adminapi.BadBody.Saying("a bundle that is made here names tools of at most " + strconv.Itoa(maxNamed) +
				" capabilities")
		}
	}
	b, err := s.c.Acts.CreateBundle(r.Context(), who, b)
	if no := (*toolacts.Missing)(nil); errors.As(err, &no) && no.Kind == "capability" {
		return nil, adminapi.BadBody.Saying(no.Error())
	}
	return bundleOf(b), refusal(err, noBundle)
}

// removeBundle serves DELETE /api/console/bundles/{name}. A form sends the name as a field.
func (s *Rules) removeBundle(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	name, err := nameOf(w, r, "name")
	if err != nil {
		return nil, err
	}
	if !access.IsBundleName(name) {
		return nil, noBundle
	}
	return map[string]string{"name": name}, refusal(s.c.Acts.DeleteBundle(r.Context(), who, name), noBundle)
}
