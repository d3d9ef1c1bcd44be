package people

import (
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/useracts"
)

// setAttribute gives a user an attribute, which a form names.
func (s *People) setAttribute(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	name, value := "", ""
	if err := adminapi.ReadInto(w, r, adminapi.Text("attribute", &name), adminapi.Text("value", &value)); err != nil {
		return nil, err
	}
	return s.changeAttribute(r, who, name, &value)
}

// dropAttribute removes an attribute, which a form names.
func (s *People) dropAttribute(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	name, err := adminapi.ReadText(w, r, "attribute", "")
	if err != nil {
		return nil, err
	}
	return s.changeAttribute(r, who, name, nil)
}

func (s *People) changeAttribute(r *http.Request, who admin.Actor, name string, value *string) (any, error) {
	changes := map[string]*string{name: value}
	done, err := s.acts.Set(r.Context(), who, r.PathValue("sub"), useracts.Change{Attributes: &changes})
	return detailsOf(done.After), adminapi.Refusal(err, noUser)
}
