package mcpcall

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

const (
	maxName   = 64 // of <member>__<name>: what MCP clients accept
	maxMember = 48
)

// nameTools gives each tool a name of [A-Za-z0-9_-] that is unique, fits behind the member
// and does not depend on the order of the list. Legal names are never changed. Others are made
// legal; if two then collide they get a hash of the upstream's name, and "" if even that is taken.
func nameTools(tools []imported, member string) []string {
	room := maxName
	if member != "" {
		room -= len(member) + len("__")
	}
	names, taken := make([]string, len(tools)), map[string]bool{}
	take := func(i int, name string) {
		if names[i] == "" && len(name) <= room && !taken[name] {
			names[i], taken[name] = name, true
		}
	}
	order := make([]int, len(tools))
	for i, t := range tools {
		if order[i] = i; legalName(t.upstream) == t.upstream {
			take(i, t.upstream)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(tools[a].upstream, tools[b].upstream) })
	for _, i := range order {
		name := cmp.Or(legalName(tools[i].upstream), "tool")
		sum := sha256.Sum256([]byte(tools[i].upstream))
		hash := "_" + hex.EncodeToString(sum[:4])
		if name != "tool" {
			take(i, name)
		}
		take(i, name[:min(len(name), room-len(hash))]+hash)
	}
	return names
}

// legalName returns a name with each run of other characters as one _, and none at the
// ends; "" if no letter or digit is left. A legal name stays as it is.
func legalName(name string) string {
	if !strings.ContainsFunc(name, alphanumeric) {
		return ""
	}
	other := func(r rune) bool { return !alphanumeric(r) && r != '_' && r != '-' }
	if !strings.ContainsFunc(name, other) {
		return name
	}
	runs := strings.FieldsFunc(name, other)
	return strings.Trim(strings.Join(runs, "_"), "_")
}

func alphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
