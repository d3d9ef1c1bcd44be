package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// maxName is the length of a name on the bus, <member>__<name>: what MCP clients accept.
const maxName = 64

// names gives each operation the name of its tool, unique within the capability, from what
// stands under a key of it, such as its operationId. Legal ones are never changed, so they
// choose first; then those made legal, then the names derived from method and path.
// Within each of the three the order of the operations decides.
func (n *namer) names(ops []operation, key string) []string {
	names := make([]string, len(ops))
	for _, asWritten := range []bool{true, false} {
		for i, op := range ops {
			id := op.id(key)
			if name := legalName(id); names[i] == "" && name != "" && (name == id) == asWritten {
				names[i] = n.take(n.shorten(name, op))
			}
		}
	}
	for i, op := range ops {
		if names[i] == "" {
			names[i] = n.takeNumbered(n.shorten(derivedName(op), op))
		}
	}
	return names
}

func newNamer(member string) *namer {
	n := &namer{max: maxName, taken: map[string]bool{}, next: map[string]int{}}
	if member != "" {
		n.max -= len(member) + len("__")
	}
	return n
}

type namer struct {
	max   int
	tries int // names that were asked for
	taken map[string]bool
	next  map[string]int // by name: the number its next double gets; counting from 2 each time would be quadratic
}

// take returns a name, "" if it is taken.
func (n *namer) take(name string) string {
	n.tries++
	if n.taken[name] {
		return ""
	}
	n.taken[name] = true
	return strings.Clone(name)
}

// takeNumbered returns a name, with _2, _3 and so on if it is taken.
func (n *namer) takeNumbered(name string) string {
	got := n.take(name)
	for got == "" {
		n.next[name] = max(n.next[name]+1, 2)
		suffix := "_" + strconv.Itoa(n.next[name])
		got = n.take(name[:min(len(name), n.max-len(suffix))] + suffix)
	}
	return got
}

// shorten shortens a name to fit, with a hash that tells apart what was cut off and that is
// the same whenever the operation is registered again.
func (n *namer) shorten(name string, op operation) string {
	if len(name) <= n.max {
		return name
	}
	sum := sha256.Sum256([]byte(strings.ToUpper(op.method) + " " + op.path))
	hash := "_" + hex.EncodeToString(sum[:4])
	return name[:n.max-len(hash)] + hash
}

// maxID bounds how much of an operationId is read: far more than is kept.
const maxID = 1024

func (op operation) id(key string) string {
	id, _ := op.node.Get(key).Value.(string)
	return strings.TrimSpace(id[:min(len(id), maxID)])
}

// legalName returns an operationId if it is legal as it is, else made so, "" if nothing
// readable is left.
func legalName(id string) string {
	name := clean(id, "_-")
	if name == id || strings.ContainsFunc(name, func(r rune) bool { return r != '_' && r != '-' }) {
		return name
	}
	return ""
}

// derivedName names an operation by its method and path (protocol 4.8, rule 6).
func derivedName(op operation) string {
	runs := strings.FieldsFunc(op.path, func(r rune) bool { return !alphanumeric(r) })
	if len(runs) == 0 {
		runs = []string{"root"}
	}
	return op.method + "_" + strings.Join(runs, "_")
}

// clean returns a text of letters, digits and some others as it is; else with each run of
// other characters as one _, and none at the ends.
func clean(s, others string) string {
	legal := func(r rune) bool { return alphanumeric(r) || strings.ContainsRune(others, r) }
	if !strings.ContainsFunc(s, func(r rune) bool { return !legal(r) }) {
		return s
	}
	var b strings.Builder
	run := false
	for _, r := range s {
		if ok := legal(r); ok {
			b.WriteRune(r)
			run = false
		} else if !run {
			b.WriteByte('_')
			run = true
		}
	}
	return strings.Trim(b.String(), "_")
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
