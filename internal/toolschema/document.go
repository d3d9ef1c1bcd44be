package toolschema

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Document is a JSON document whose pieces refer to each other by $ref. It is not safe
// for concurrent use.
type Document struct {
	root     any
	hops     int
	found    map[string]Node
	patterns map[string]string // what is shown of a pattern
}

// NewDocument returns a document in which a reference may lead over hops others.
func NewDocument(root any, hops int) *Document {
	return &Document{root: root, hops: hops, found: map[string]Node{}, patterns: map[string]string{}}
}

// Root is the whole document.
func (d *Document) Root() Node { return Node{Value: d.root} }

// Why a reference is not followed.
var (
	ErrExternal = errors.New("a reference to another document is never followed")
	ErrNowhere  = errors.New("the reference leads nowhere")
	ErrHops     = errors.New("a chain of too many references")
)

// Follow returns what a piece stands for: itself, or what its $ref leads to.
func (d *Document) Follow(n Node) (Node, error) {
	for range d.hops + 1 {
		ref, is := refOf(n.Value)
		if !is {
			return n, nil
		}
		var err error
		if n, err = d.find(ref); err != nil {
			return Node{}, err
		}
	}
	return Node{}, ErrHops
}

func refOf(v any) (string, bool) {
	o, _ := v.(tree.Object)
	ref, is := o.Get("$ref").(string)
	return ref, is
}

// maxPointer bounds the text of a reference: each of its segments costs a lookup.
const maxPointer = 1024

// find returns the piece at the JSON pointer of a fragment (RFC 6901 6).
func (d *Document) find(ref string) (Node, error) {
	if n, known := d.found[ref]; known {
		return n, nil
	}
	fragment, local := strings.CutPrefix(ref, "#")
	if !local {
		return Node{}, ErrExternal
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil || len(ref) > maxPointer || pointer != "" && pointer[0] != '/' {
		return Node{}, ErrNowhere
	}
	n := d.Root()
	for i, segment := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		if n = n.child(unescape.Replace(segment)); n.up == nil {
			return Node{}, ErrNowhere
		}
	}
	d.found[ref] = n
	return n, nil
}

// Node is a piece of a document and the place where it stands.
type Node struct {
	Value any
	up    *Node
	key   string
}

// Get returns the piece under a key of an object, with a nil Value if there is none.
func (n Node) Get(key string) Node {
	o, _ := n.Value.(tree.Object)
	return Node{Value: o.Get(key), up: &n, key: key}
}

// At returns an item of an array.
func (n Node) At(i int) Node {
	a, _ := n.Value.(tree.Array)
	return Node{Value: a[i], up: &n, key: strconv.Itoa(i)}
}

// child is Get or At by a segment of a pointer; it has no up if there is nothing.
func (n Node) child(segment string) Node {
	switch v := n.Value.(type) {
	case tree.Object:
		if _, there := v.Lookup(segment); there {
			return n.Get(segment)
		}
	case tree.Array:
		if i, err := strconv.Atoi(segment); err == nil && 0 <= i && i < len(v) {
			return n.At(i)
		}
	}
	return Node{}
}

// Pointer returns the place of the piece (RFC 6901), "" for the whole document.
func (n Node) Pointer() string {
	if n.up == nil {
		return ""
	}
	return fmt.Sprintf("%s/%s", n.up.Pointer(), escape.Replace(n.key))
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)
