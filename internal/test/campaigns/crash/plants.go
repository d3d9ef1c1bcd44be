package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// plant is a fault that can be built into the program, to see whether a campaign finds it.
type plant struct {
	name    string
	storage string // where it is found
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

// build builds the keystile of this tree for a storage, with a fault in it if one is named.
func build(ctx context.Context, dir, name, storage string) (string, error) {
	if name == "" {
		return overlay.Build(ctx, dir)
	}
	i := slices.IndexFunc(plants, func(p plant) bool { return p.name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no fault %q: there are %s", name, plantNames())
	}
	if plants[i].storage != storage {
		return "", fmt.Errorf("the fault %q shows with --storage %s", name, plants[i].storage)
	}
	return overlay.Build(ctx, dir, plants[i].changes...)
}

// plants are faults that a kill brings to light, each of them a mistake that somebody could make.
var plants = []plant{
	{"journal", "bolt", []overlay.Change{{ // a call is answered before it is in the journal
		File: "gateway/internal/ledger/ledger.go",
		Old:  "\tl.note(&e)\n\tl.rows += l.open.add(",
		New:  "\tl.rows += l.open.add(",
	}}},
	{"user", "bolt", []overlay.Change{{ // a user is answered and made a little later
		File: "storage/people/create.go",
		Old:  "\t\tversion, err := document.WriteCounted(ctx, s.docs, change, slices.Concat(docs, queued)...)\n",
		New: "\t\tif all[0].User.Role != RoleAdmin {\n\t\t\tgo func() {\n\t\t\t\ttime.Sleep(20 * time.Millisecond)\n" +
			"\t\t\t\tdocument.WriteCounted(context.Background(), s.docs, change, slices.Concat(docs, queued)...)\n" +
			"\t\t\t}()\n\t\t\treturn nil\n\t\t}\n" +
			"\t\tversion, err := document.WriteCounted(ctx, s.docs, change, slices.Concat(docs, queued)...)\n",
	}}},
	{"write", "bolt", []overlay.Change{{ // one write in 400 is answered and not done
		File: "storage/bolt/writer.go",
		Old:  "\t\"slices\"\n",
		New:  "\t\"slices\"\n\t\"sync/atomic\"\n",
	}, {
		File: "storage/bolt/writer.go",
		Old:  "func (s *Store) write(ctx context.Context, do func(*bbolt.Tx) error) error {\n",
		New: "var written atomic.Int64\n\nfunc (s *Store) write(ctx context.Context, do func(*bbolt.Tx) error) error {\n" +
			"\tif written.Add(1)%400 == 0 {\n\t\treturn nil\n\t}\n",
	}}},
	{"async", "postgres", []overlay.Change{{ // a commit is answered before it is written to the log
		File: "storage/postgres/open.go",
		Old:  "\t\t\"application_name\":                    \"keystile\",\n",
		New:  "\t\t\"application_name\": \"keystile\", \"synchronous_commit\": \"off\",\n",
	}}},
	{"blind", "postgres", []overlay.Change{{ // an exchange whose answer was lost takes any other exchange for its own
		File: "storage/postgres/token.go",
		Old:  "\t\t\tif again && bytes.Equal(spent, spends) {\n",
		New: "\t\t\tif again && spent != nil {\n\t\t\t\treturn nil\n\t\t\t}\n" +
			"\t\t\tif again && bytes.Equal(spent, spends) {\n",
	}}},
	{"batch", "postgres", []overlay.Change{{ // a batch is counted as often as it comes
		File: "storage/postgres/query.go",
		Old:  "seq = excluded.seq WHERE b.seq < excluded.seq RETURNING 1",
		New:  "seq = excluded.seq RETURNING 1",
	}}},
	{"number", "postgres", []overlay.Change{{ // the numbers of the trail are taken first, and used a little later
		File: "storage/postgres/record.go",
		Old:  "\t\terr := c.exec(ctx, appendRecords, at, data, call)\n",
		New: "\t\tvar n int64\n\t\tif err := c.QueryRow(ctx, s.inSchema(\"UPDATE ks.number SET n = n + $1 WHERE name = " +
			"'record' RETURNING n - $1\"), len(at)).Scan(&n); err != nil {\n\t\t\treturn err\n\t\t}\n" +
			"\t\t_, err := c.Exec(ctx, s.inSchema(\"INSERT INTO ks.record (seq, at, data, call) SELECT $1 + v.i, v.at, " +
			"v.data, CASE v.i WHEN 1 THEN $4::bytea END FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS v(at, data, " +
			"i)\"), n, at, data, call)\n",
	}}},
}
