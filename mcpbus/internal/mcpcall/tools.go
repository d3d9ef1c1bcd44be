package mcpcall

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage/toolplan"
)

// Bounds and default of the lifetime of a list.
const (
	minTTL     = 30 * time.Second
	maxTTL     = time.Hour
	defaultTTL = 5 * time.Minute
)

// maxKept bounds the tools of one upstream, in bytes: half the limit of a stored capability.
const maxKept = 16 << 20

// maxToolName bounds the upstream's name of a tool, in bytes.
const maxToolName = 256

// intake collects tools from the pages of a list.
type intake struct {
	max     int // entries
	entries int
	size    int
	listed  map[string]bool // names of the upstream
	tools   []imported
	skipped []toolplan.Skip
	parts   int // of entries, that are left out
	mirror  *mirror
	ttl     time.Duration
}

// imported is a tool that has no name on the bus yet.
type imported struct {
	toolplan.Tool
	upstream string // its name there
	at       int    // in the list
}

func newIntake(max int) *intake {
	return &intake{max: max, listed: map[string]bool{}, mirror: &mirror{}, ttl: maxTTL}
}

// add reads a page.
func (in *intake) add(page map[string]raw) error {
	list := page["tools"]
	if len(list) == 0 || list[0] != '[' {
		return failf("the upstream's list is no list: a page needs tools")
	}
	for entry := range rawjson.Elements(list) {
		at := in.entries
		if in.entries++; in.entries > in.max {
			return failf("the upstream lists more than %d tools: it must list less", in.max)
		}
		if err := in.take(at, entry); err != nil {
			in.skip(at, err)
		}
		if in.size > maxKept {
			return failf("the upstream's tools have more than %d bytes: it must list less", maxKept)
		}
	}
	in.ttl = min(in.ttl, readTTL(page["ttlMs"]))
	return nil
}

func (in *intake) skip(at int, why error) {
	in.skipped = append(in.skipped, toolplan.Skip{Pointer: "/tools/" + strconv.Itoa(at),
		Reason: toolschema.Text(why.Error())})
}

// take reads an entry. Its error says why the entry is not usable.
func (in *intake) take(at int, entry raw) error {
	m := object(entry)
	if m == nil {
		return errors.New("it is no object, or names a member twice")
	}
	name, err := upstreamName(m["name"])
	if err != nil {
		return err
	}
	if in.listed[name] {
		return errors.New("its name is listed twice")
	}
	in.listed[name] = true
	if s, _ := stringOf(object(m["execution"])["taskSupport"]); s == "required" {
		return errors.New("it runs as a task, which this service cannot follow")
	}
	input, err := toolschema.Import(m["inputSchema"])
	if err != nil {
		return err
	}
	if err := in.mirror.add(name, m["inputSchema"]); err != nil {
		return err
	}
	t := imported{toolplan.Tool{Description: describe(name, m), InputSchema: input.Schema, RemoteArgs: input.Known},
		name, at}
	for _, left := range input.Left {
		in.list("/tools/"+strconv.Itoa(at)+"/inputSchema"+left.Pointer, left.Reason)
	}
	in.keep(&t, m)
	in.tools = append(in.tools, t)
	in.size += len(name) + len(t.Description) + len(t.InputSchema) + len(t.Title) + len(t.OutputSchema)
	for made, there := range t.RemoteArgs {
		in.size += len(made) + len(there)
	}
	for _, icon := range t.Icons {
		in.size += len(icon.Source)
	}
	return nil
}

// upstreamName reads the name by which a tool is called.
func upstreamName(v raw) (string, error) {
	name, ok := stringOf(v)
	switch {
	case !ok || name == "":
		return "", errors.New("it has no name")
	case len(name) > maxToolName:
		return "", fmt.Errorf("its name has more than %d bytes", maxToolName)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", errors.New("its name has control characters")
	}
	return name, nil
}

// describe returns a description that is never empty.
func describe(name string, m map[string]raw) string {
	shown := func(v raw) string { s, _ := stringOf(v); return toolschema.Text(s) }
	return cmp.Or(shown(m["description"]), shown(m["title"]), shown(object(m["annotations"])["title"]),
		toolschema.Text(name), "A tool without a description")
}

// readTTL reads ttlMs of a page.
func readTTL(v raw) time.Duration {
	ms, err := strconv.ParseFloat(string(v), 64)
	if err != nil || ms < 0 {
		return defaultTTL
	}
	return time.Duration(min(max(ms, float64(minTTL.Milliseconds())), float64(maxTTL.Milliseconds()))) * time.Millisecond
}

// found names the tools and returns the result of the discovery.
func (in *intake) found(member string) Found {
	f := Found{Names: make(map[string]string, len(in.tools)), TTL: in.ttl}
	names := nameTools(in.tools, member)
	for i, t := range in.tools {
		if names[i] == "" {
			in.skip(t.at, errors.New("its name cannot be told from that of another tool"))
			continue
		}
		t.Name = names[i]
		f.Tools = append(f.Tools, t.Tool)
		f.Names[t.Name] = t.upstream
	}
	f.Skipped = in.skipped
	return f
}
