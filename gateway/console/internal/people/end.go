package people

import (
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/reply"
)

// ended says how many records an act has ended.
type ended struct {
	Ended int `json:"ended"`
}

// ending says how many records an act has ended, or why not.
func ending(n int, err error, missing *reply.Failure) (any, error) {
	return ended{n}, adminapi.Refusal(err, missing)
}

// chosen returns what a request names: in its path, or in the field ids.
func chosen(w http.ResponseWriter, r *http.Request, name string) (ids []string, err error) {
	if id := r.PathValue(name); name != "" && id != "" {
		return []string{id}, nil
	}
	f, err := adminapi.ReadFields(w, r, "ids")
	if err == nil {
		err = f.Texts("ids", &ids)
	}
	if err == nil && (len(ids) == 0 || len(ids) > maxRows) {
		err = noChoice
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// chosenOf is chosen for records of several users: each is named by a sub, a dot, and its own name. It
// returns the names by sub.
func chosenOf(w http.ResponseWriter, r *http.Request) (map[string][]string, error) {
	ids, err := chosen(w, r, "")
	if err != nil {
		return nil, err
	}
	by := map[string][]string{}
	for _, id := range ids {
		sub, own, ok := strings.Cut(id, ".")
		if !ok || sub == "" || own == "" {
			return nil, noPair
		}
		by[sub] = append(by[sub], own)
	}
	return by, nil
}
