package people

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage/event"
)

// ended says how many records an act has ended.
type ended struct {
	Ended int `json:"ended"`
}

// ending is one record of a user that an act ends.
type ending struct {
	sub    string
	change string
	do     func(ctx context.Context) error
	then   func(ctx context.Context) error // once it is on the trail; nil: nothing
}

// end ends records in their order. Each is on the trail before the next one ends, so that a failure in
// the middle leaves nothing unrecorded, and each user is told once.
func (s *People) end(r *http.Request, who admin.Actor, what, notice string, all []ending) (any, error) {
	told := map[string]bool{}
	for _, e := range all {
		if err := e.do(r.Context()); err != nil {
			return nil, err
		}
		if !told[e.sub] {
			told[e.sub] = true
			s.c.Recorder.Notify(r.Context(), who, event.Notice{Kind: event.NoticeAccount, Detail: notice}, e.sub)
		}
		if err := s.c.Recorder.Note(r.Context(), who, admin.Act{What: what, On: e.sub, User: e.sub, Changes: []string{e.change}}); err != nil {
			return nil, err
		}
		if e.then == nil {
			continue
		}
		if err := e.then(r.Context()); err != nil {
			return nil, err
		}
	}
	return ended{len(all)}, nil
}

// chosen returns what a request names: in its path, or in the field ids.
func chosen(w http.ResponseWriter, r *http.Request, name string) (ids []string, err error) {
	if id := r.PathValue(name); name != "" && id != "" {
		return []string{id}, nil
	}
	f, err := manage.ReadFields(w, r, "ids")
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
