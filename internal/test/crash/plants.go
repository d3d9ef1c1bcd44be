package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/test/overlay"
)

// plant is a fault that can be built into the program, to see whether a campaign finds it.
type plant struct {
	name    string
	changes []overlay.Change
}

// plantNames are those of the plants.
func plantNames() string {
	var all []string
	for _, p := range plants {
		all = append(all, p.name)
	}
	return strings.Join(all, ", ")
}

// build builds the keystile of this tree, with a fault in it if one is named.
func build(ctx context.Context, dir, name string) (string, error) {
	if name == "" {
		return overlay.Build(ctx, dir)
	}
	i := slices.IndexFunc(plants, func(p plant) bool { return p.name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no fault %q: there are %s", name, plantNames())
	}
	return overlay.Build(ctx, dir, plants[i].changes...)
}

// plants are faults that a kill brings to light, each of them a mistake that somebody could make.
var plants = []plant{
	{"journal", []overlay.Change{{ // a call is answered before it is in the journal
		File: "gateway/internal/ledger/ledger.go",
		Old:  "\tl.note(e)\n\tif l.open.add(e) {",
		New:  "\tif l.open.add(e) {",
	}}},
	{"user", []overlay.Change{{ // a user is answered and made a little later
		File: "storage/user.go",
		Old:  "\t\tu.Version, err = s.writeUser(ctx, u, by, last, along)\n",
		New: "\t\tif u.Role != RoleAdmin {\n\t\t\tgo func() { time.Sleep(20 * time.Millisecond); s.writeUser(context.Background(), u, by, last, along) }()\n\t\t\treturn u, nil\n\t\t}\n" +
			"\t\tu.Version, err = s.writeUser(ctx, u, by, last, along)\n",
	}}},
	{"write", []overlay.Change{{ // one write in 400 is answered and not done
		File: "storage/bolt/writer.go",
		Old:  "\t\"slices\"\n",
		New:  "\t\"slices\"\n\t\"sync/atomic\"\n",
	}, {
		File: "storage/bolt/writer.go",
		Old:  "func (s *Store) write(ctx context.Context, do func(*bbolt.Tx) error) error {\n",
		New:  "var written atomic.Int64\n\nfunc (s *Store) write(ctx context.Context, do func(*bbolt.Tx) error) error {\n\tif written.Add(1)%400 == 0 {\n\t\treturn nil\n\t}\n",
	}}},
}
