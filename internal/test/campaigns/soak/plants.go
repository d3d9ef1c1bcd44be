package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
)

// plant is a fault that can be built into the program, to see whether a soak finds it.
type plant struct {
	name    string
	changes []overlay.Change
}

// every names the file that each request passes.
const every = "cmd/keystile/internal/requests/front.go"

// atEach does something at each request.
func atEach(statements, declarations string, imports ...string) []overlay.Change {
	all := []overlay.Change{
		{File: every, Old: "\tif f.Observer != nil {\n\t\tf.Observer.Begin()\n",
			New: statements + "\tif f.Observer != nil {\n\t\tf.Observer.Begin()\n"},
		{File: every, Old: "type front struct {\n", New: declarations + "type front struct {\n"},
	}
	for _, path := range imports {
		all = append(all, overlay.Change{File: every, Old: "\t\"net/http\"\n", New: "\t\"net/http\"\n\t\"" + path + "\"\n"})
	}
	return all
}

// plants are leaks that somebody could make, and what else a soak has to notice.
var plants = []plant{
	{"goroutines", atEach("\tif r.URL.Path == \"/oauth/userinfo\" {\n\t\tgo func() { <-never }()\n\t}\n",
		"var never = make(chan struct{})\n\n")},
	{"files", atEach("\tif r.URL.Path == \"/oauth/userinfo\" {\n\t\tif leak, err := os.Open(os.DevNull); err == nil {\n"+
		"\t\t\tkeptFiles.Store(leak, true)\n\t\t}\n\t}\n", "var keptFiles sync.Map\n\n", "os", "sync")},
	{"memory", atEach("\tkept.Store(new([16 << 10]byte), true)\n", "var kept sync.Map\n\n", "sync")},
	{"slow", atEach("\tpassed := slowly.Add(1)\n\ttime.Sleep(time.Duration(passed*passed/25) * time.Microsecond)\n",
		"var slowly atomic.Int64\n\n", "sync/atomic")},
}

func plantNames() string {
	var all []string
	for _, p := range plants {
		all = append(all, p.name)
	}
	return strings.Join(all, ", ")
}

// small makes the cache of verified tokens one that is full within minutes. As it is shipped, it fills for hours
// or days under this load, and a leak could not be told from that.
var small = overlay.Change{File: "internal/token/verify.go", Old: "const defaultCache = 100_000\n",
	New: "const defaultCache = 1_000\n"}

// build builds the keystile of this tree with a small cache, and with a fault if one is named, or several,
// separated by commas.
func build(ctx context.Context, dir, name string) (string, error) {
	changes := []overlay.Change{small}
	for name := range strings.SplitSeq(name, ",") {
		if name == "" {
			continue
		}
		i := slices.IndexFunc(plants, func(p plant) bool { return p.name == name })
		if i < 0 {
			return "", fmt.Errorf("there is no fault %q: there are %s", name, plantNames())
		}
		changes = append(changes, plants[i].changes...)
	}
	return overlay.Build(ctx, dir, changes...)
}
