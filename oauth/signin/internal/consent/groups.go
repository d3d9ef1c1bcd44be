package consent

import (
	"context"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
)

// maxNamed bounds the groups that are named: of more it is said how many there are.
const maxNamed = 10

const (
	theseGroups = "See which groups you are in, at present: %s"
	manyGroups  = "See which groups you are in, at present %s of them"
	noGroups    = "See which groups you are in, at present none that it learns of"
)

// Asks is Permissions for a page that asks a user (a sub) whether an application may have them: it says which groups
// the application would see.
func (s *Consents) Asks(ctx context.Context, app storage.App, sub, wanted string) ([]Permission, error) {
	all := Permissions(wanted)
	if !scope.Has(wanted, scope.Groups) {
		return all, nil
	}
	in, err := s.Store.GroupsOf(ctx, sub)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(in))
	for i, g := range in {
		names[i] = g.Name
	}
	for i, p := range all {
		if p.text == permissions[scope.Groups].text {
			all[i] = groupsSeen(app.Shown(names))
		}
	}
	return all, nil
}

func groupsSeen(names []string) Permission {
	switch n := len(names); {
	case n == 0:
		return Permission{text: noGroups}
	case n > maxNamed:
		return Permission{text: manyGroups, about: []string{strconv.Itoa(n)}}
	}
	return Permission{text: theseGroups, about: []string{strings.Join(names, ", ")}}
}
