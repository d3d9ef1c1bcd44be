package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/test/campaigns/bentclock"
	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// plant is a fault that can be built into the program, to see whether a campaign finds it.
type plant struct {
	name    string
	shows   string // with this kind of faults
	changes []overlay.Change
}

// plants are faults of several nodes, each of them a mistake that somebody could make, and what
// brings it to light.
var plants = []plant{
	// a call that gives up cancels its commit, which stops waiting for the standby and shows
	{"cancel", "failover-late", []overlay.Change{{
		File: "storage/postgres/open.go",
		Old:  "\tneverCancel(config)\n",
		New:  "",
	}}},
	{"local", "failover-late", []overlay.Change{{ // a commit is answered before the standby has it
		File: "storage/postgres/open.go",
		Old:  "\t\t\"application_name\":                    \"keystile\",\n",
		New:  "\t\t\"application_name\": \"keystile\", \"synchronous_commit\": \"local\",\n",
	}}},
	{"twice", "rolling", []overlay.Change{{ // what was redeemed is taken for an attempt of the same call
		File: "storage/postgres/token.go",
		Old:  "\t\t\tif again && bytes.Equal(spent, spends) {\n",
		New: "\t\t\tif spent != nil && (again || len(next) > 0 && !bytes.Equal(spent, spends)) {\n\t\t\t\treturn nil\n" +
			"\t\t\t}\n" +
			"\t\t\tif again && bytes.Equal(spent, spends) {\n",
	}}},
	// a node reads what others revoke when it is told, or every ten seconds, and nobody tells it
	{"deaf", "rolling", []overlay.Change{{
		File: "oauth/feed.go",
		Old:  "Every: followEvery,",
		New:  "Every: 10 * time.Second,",
	}, {
		File: "oauth/feed.go",
		Old:  "\t\terr := t.c.Store.Listen(ctx, hint)\n",
		New:  "\t\tvar err error\n\t\t_ = hint\n",
	}, {
		File: "oauth/feed.go",
		Old:  "StaleAfter: t.c.StaleAfter,",
		New:  "StaleAfter: time.Minute,",
	}}},
	{"trusting", "node-cut", []overlay.Change{{ // a node that cannot read what others revoke goes on accepting tokens
		File: "oauth/feed.go",
		Old:  "StaleAfter: t.c.StaleAfter,",
		New:  "StaleAfter: time.Hour,",
	}}},
	{"alone", "node-clock", []overlay.Change{{ // each node counts applications by itself, in the Redis of all
		File: "storage/counters/redis/limiter.go",
		Old:  "[]string{keys.App(clientID)}",
		New:  "[]string{keys.App(clientID + strconv.Itoa(os.Getpid()))}",
	}, {
		File: "storage/counters/redis/limiter.go",
		Old:  "\t\"net/netip\"\n",
		New:  "\t\"net/netip\"\n\t\"os\"\n",
	}}},
	{"strict", "redis-kill", []overlay.Change{{ // nobody is admitted while Redis is away
		File: "storage/counters/redis/redis.go",
		Old:  "\t\treturn here(c.share(limit)).of(limit)\n",
		New:  "\t\treturn held{counters.Verdict{Limit: limit, RetryAfter: time.Second}, func() {}}\n",
	}}},
	{"abrupt", "rolling", []overlay.Change{{ // a node that is told to stop refuses connections at once
		File: "cmd/keystile/command/servers.go",
		Old:  "if s.drain <= 0 || s.leave == nil {",
		New:  "if s.drain > 0 {",
	}}},
}

func plantNames() string {
	var all []string
	for _, p := range plants {
		all = append(all, p.name)
	}
	return strings.Join(all, ", ")
}

// ahead is a step of the tables of a version to come, that this version can live with.
var ahead = overlay.Change{File: "storage/postgres/migrations/9999_ahead.additive.sql", New: `
ALTER TABLE doc ADD COLUMN next_version text;
ALTER TABLE token ADD COLUMN next_version text;
ALTER TABLE revocation ADD COLUMN next_version text NOT NULL DEFAULT '';
ALTER TABLE usage ADD COLUMN next_version bigint NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN next_version bytea;
CREATE TABLE next_table (id int);
`}

// buildNext builds the keystile that comes after the one of this tree.
func buildNext(ctx context.Context, dir string) (string, error) {
	dir = filepath.Join(dir, "next")
	if err := os.Mkdir(dir, 0o711); err != nil {
		return "", err
	}
	return bentclock.Build(ctx, dir, ahead)
}

// build builds the keystile of this tree, with a clock that can be bent, and a fault if one is named.
func build(ctx context.Context, dir, name string) (string, error) {
	var changes []overlay.Change
	if name != "" {
		i := slices.IndexFunc(plants, func(p plant) bool { return p.name == name })
		if i < 0 {
			return "", fmt.Errorf("there is no fault %q: there are %s", name, plantNames())
		}
		changes = plants[i].changes
	}
	return bentclock.Build(ctx, dir, changes...)
}
