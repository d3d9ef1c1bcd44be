package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

// account compares a document with what was made of it. It reads the document by itself, with
// encoding/json and as OpenAPI's text has it, and knows nothing of how tools are made: each operation, parameter,
// field of a body, media type and method has to be in a tool, or in what is left out.
type account struct {
	root    map[string]any
	two     bool
	tools   map[string][]toolplan.Tool // by method and path without the names in it, in the order of the result
	skipped []toolplan.Skip
	places  map[string]bool // pointers of what is left out
	above   map[string]bool // these, and what they are in
	lost    []string
	counted int
}

// lostOf returns what of a document is neither in a tool nor in what is left out, and how many pieces there were.
func lostOf(t testing.TB, document []byte, r *Result) ([]string, int) {
	t.Helper()
	a := &account{tools: map[string][]toolplan.Tool{}, skipped: r.Skipped}
	decode(t, document, &a.root)
	a.two = a.root["swagger"] != nil && !strings.HasPrefix(fmt.Sprint(a.root["openapi"]), "3")
	for _, tool := range r.Tools {
		key := tool.Method + " " + bones(tool.Call.Template)
		a.tools[key] = append(a.tools[key], tool)
	}
	paths, _ := a.root["paths"].(map[string]any)
	for _, path := range slices.SortedFunc(maps.Keys(paths), func(x, y string) int {
		return strings.Compare("/"+strings.TrimPrefix(x, "/"), "/"+strings.TrimPrefix(y, "/"))
	}) {
		if !strings.HasPrefix(path, "x-") {
			a.path(path, piece{paths[path], pointer("paths", path), ""})
		}
	}
	return a.lost, a.counted
}

// piece is a value of a document, with its place and the place of the reference that led to it.
type piece struct {
	value    any
	at, from string
}

func (p piece) object() map[string]any { o, _ := p.value.(map[string]any); return o }

func (p piece) get(key string) piece {
	return piece{p.object()[key], p.at + pointer(strings.ReplaceAll(key, "\n", " ")), p.from} // as a list shows it
}

func (p piece) items() (all []piece) {
	list, _ := p.value.([]any)
	for i, v := range list {
		all = append(all, piece{v, p.at + "/" + strconv.Itoa(i), p.from})
	}
	return all
}

// follow returns what a piece refers to, ok false if nothing can be found there.
func (a *account) follow(p piece) (piece, bool) {
	for range 20 {
		ref, is := p.object()["$ref"].(string)
		if !is {
			return p, p.value != nil
		}
		to, local := strings.CutPrefix(ref, "#/")
		if !local {
			return p, false
		}
		found := piece{a.root, "", p.at}
		for _, key := range strings.Split(to, "/") {
			key = keyOf(key)
			if list, is := found.value.([]any); is {
				i, err := strconv.Atoi(key)
				if err != nil || i < 0 || i >= len(list) {
					return p, false
				}
				found = found.items()[i]
				continue
			}
			if _, there := found.object()[key]; !there {
				return p, false
			}
			found = found.get(key)
		}
		found.from = p.at
		p = found
	}
	return p, false
}

// listed reports whether what is left out has a piece, something that it is in, or something in it.
func (a *account) listed(pieces ...piece) bool {
	return a.covered(pieces...) ||
		slices.ContainsFunc(pieces, func(p piece) bool { return a.above[p.at] || a.above[p.from] })
}

// covered reports whether what is left out has a piece, or something that it is in.
func (a *account) covered(pieces ...piece) bool {
	a.index()
	for _, p := range pieces {
		for _, at := range []string{p.at, p.from} {
			for ; at != ""; at = parent(at) {
				if a.places[at] {
					return true
				}
			}
		}
	}
	return false
}

func (a *account) index() {
	if a.places != nil {
		return
	}
	a.places, a.above = map[string]bool{}, map[string]bool{}
	for _, s := range a.skipped {
		if s.Usual || s.Pointer == "" {
			continue
		}
		a.places[s.Pointer] = true
		for at := s.Pointer; at != ""; at = parent(at) {
			a.above[at] = true
		}
	}
}

func parent(pointer string) string { return pointer[:max(0, strings.LastIndexByte(pointer, '/'))] }

// said reports whether a reason has all of some words.
func (a *account) said(words ...string) bool {
	return slices.ContainsFunc(a.skipped, func(s toolplan.Skip) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(s.Reason, word) })
	})
}

func (a *account) lose(p piece, what string) { a.lost = append(a.lost, p.at+": "+what) }

// notMethods are the members of a path item that are no operations.
var notMethods = []string{"$ref", "summary", "description", "servers", "parameters", "additionalOperations"}

func (a *account) path(path string, p piece) {
	item, ok := a.follow(p)
	a.counted++
	if !ok || item.object() == nil {
		if !a.listed(p, item) {
			a.lose(p, "the path cannot be read, and is not listed")
		}
		return
	}
	if item.at != p.at {
		for name := range p.object() {
			if !slices.Contains(notMethods, name) && !strings.HasPrefix(name, "x-") && !a.covered(p.get(name)) {
				a.lose(p.get(name), "it is beside a reference, and is not listed")
			}
		}
	}
	known := []string{"get", "post", "put", "delete", "patch"}
	if !a.two {
		known = append(known, "query")
	}
	for _, method := range known {
		if _, there := item.object()[method]; there {
			a.operation(method, path, p, item)
		}
	}
	for name := range item.object() {
		if slices.Contains(known, name) || slices.Contains(notMethods, name) || strings.HasPrefix(name, "x-") {
			continue
		}
		a.other(name, item.get(name), p)
	}
	for name := range item.get("additionalOperations").object() {
		a.other(name, item.get("additionalOperations").get(name), p)
	}
}

func (a *account) other(method string, op, path piece) {
	a.counted++
	if !a.covered(op, path) && !a.said("more operations of the method "+strconv.Quote(method)) {
		a.lose(op, "the method makes no tool, and is not listed")
	}
}

func (a *account) operation(method, path string, at, item piece) {
	op := item.get(method)
	a.counted++
	for _, s := range a.skipped {
		if !s.Usual && !strings.HasPrefix(s.Reason, "shown without") &&
			(s.Pointer == op.at || s.Pointer == item.at || s.Pointer == at.at) {
			return
		}
	}
	key := method + " " + bones(path)
	if len(a.tools[key]) == 0 {
		a.lose(op, "the operation is neither a tool nor listed")
		return
	}
	tool := a.tools[key][0]
	a.tools[key] = a.tools[key][1:]
	form := a.parameters(tool, item, op)
	if a.two {
		return
	}
	body := op.get("requestBody")
	if body.value == nil {
		return
	}
	if form {
		a.lose(op, "a form counts beside a body")
	}
	a.body(method, tool, body)
}

// bones is a path without the names in it, however they are written.
func bones(path string) string {
	var out strings.Builder
	depth := 0
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '{' || c == '<':
			if depth == 0 {
				if i+1 < len(path) && strings.ContainsRune("?&#", rune(path[i+1])) { // a query of RFC 6570
					end := strings.IndexByte(path[i:], '}')
					if end < 0 {
						return out.String()
					}
					i += end
					continue
				}
				out.WriteByte('*')
			}
			depth++
		case c == '}' || c == '>':
			depth = max(0, depth-1)
		case depth > 0:
		case c == ':' && i > 0 && path[i-1] == '/':
			out.WriteByte('*')
			for i+1 < len(path) && (alphanumeric(rune(path[i+1])) || path[i+1] == '_') {
				i++
			}
		default:
			out.WriteByte(c)
		}
	}
	return "/" + strings.TrimPrefix(out.String(), "/")
}

// pointer is the JSON pointer of a path of keys (RFC 6901).
func pointer(path ...string) (out string) {
	for _, key := range path {
		out += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	}
	return out
}
