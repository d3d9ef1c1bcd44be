package yamljson

import (
	"go.yaml.in/yaml/v3"

	"github.com/keystile/keystile/internal/rawjson"
)

// writer writes nodes as JSON.
type writer struct {
	out    []byte
	limits Limits
	nodes  int // that may still be visited
	depth  int
	open   map[*yaml.Node]bool // those with an anchor that are being written
}

// visit counts a node, and refuses what has become too much.
func (w *writer) visit(n *yaml.Node) error {
	w.nodes--
	if w.nodes >= 0 && len(w.out) <= w.limits.Bytes {
		return nil
	}
	return tooMuch(ErrSize, n, "with its aliases written out it has more than %d bytes of JSON, or %d keys and values",
		w.limits.Bytes, w.limits.Nodes)
}

func (w *writer) value(n *yaml.Node) error {
	if err := w.visit(n); err != nil {
		return err
	}
	switch n.Kind {
	case yaml.AliasNode:
		if w.open[n.Alias] {
			return wrong(n, "the alias *%s leads to itself", n.Value)
		}
		return w.value(n.Alias)
	case yaml.MappingNode:
		return w.within(n, "!!map", w.object)
	case yaml.SequenceNode:
		return w.within(n, "!!seq", w.array)
	}
	return w.scalar(n)
}

// within writes what is one level deeper.
func (w *writer) within(n *yaml.Node, tag string, write func(*yaml.Node) error) error {
	if t := tagOf(n); t != "" && t != tag {
		return wrong(n, "the tag %s has no meaning in JSON: leave it out", t)
	}
	if w.depth == w.limits.Depth {
		return tooMuch(ErrDepth, n, "it nests more than %d levels deep", w.limits.Depth)
	}
	w.depth++
	if n.Anchor != "" {
		w.open[n] = true
		defer delete(w.open, n)
	}
	err := write(n)
	w.depth--
	return err
}

func (w *writer) array(n *yaml.Node) error {
	w.out = append(w.out, '[')
	for i, item := range n.Content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *writer) object(n *yaml.Node) error {
	w.out = append(w.out, '{')
	if err := w.members(n, nil); err != nil {
		return err
	}
	w.out = append(w.out, '}')
	return nil
}

// members writes the members of a mapping, its own first, then those its merge key brings.
// Those that are written already are left out; nil says that none is and nobody asks.
func (w *writer) members(n *yaml.Node, written map[string]bool) error {
	lines := make(map[string]int, len(n.Content)/2)
	var sources *yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if err := w.visit(key); err != nil {
			return err
		}
		name, err := keyOf(key)
		switch {
		case err != nil:
			return err
		case merges(key) && sources != nil:
			return wrong(key, "the merge key << stands here twice: give it a list of mappings")
		case merges(key):
			sources = value
			continue
		case lines[name] > 0:
			return wrong(key, "the key %.80q stands in line %d already: keep one", name, lines[name])
		}
		lines[name] = key.Line
		if written[name] {
			continue
		}
		if err := w.member(name, value); err != nil {
			return err
		}
	}
	if sources == nil && written == nil {
		return nil
	}
	if written == nil {
		written = make(map[string]bool, len(lines))
	}
	for name := range lines {
		written[name] = true
	}
	return w.merge(sources, written)
}

func (w *writer) member(name string, value *yaml.Node) error {
	if w.out[len(w.out)-1] != '{' {
		w.out = append(w.out, ',')
	}
	w.out = rawjson.AppendString(w.out, name)
	w.out = append(w.out, ':')
	return w.value(value)
}

// merge writes what a merge key brings: a mapping, or a list of them; nil is none. Each is a
// level, which bounds how far one leads to the next.
func (w *writer) merge(n *yaml.Node, written map[string]bool) error {
	if n == nil {
		return nil
	}
	from := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		from = n.Content
	}
	for _, source := range from {
		if err := w.visit(source); err != nil {
			return err
		}
		if source.Kind == yaml.AliasNode {
			if w.open[source.Alias] {
				return wrong(source, "the alias *%s leads to itself", source.Value)
			}
			source = source.Alias
		}
		if source.Kind != yaml.MappingNode {
			return wrong(n, "the merge key << takes a mapping or a list of mappings: put it in quotes if it is a key like "+
				"others")
		}
		err := w.within(source, "!!map", func(n *yaml.Node) error { return w.members(n, written) })
		if err != nil {
			return err
		}
	}
	return nil
}

// merges reports whether a key is the merge key of YAML 1.1.
func merges(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Style == 0 && key.Value == "<<"
}

// keyOf returns the text of a key.
func keyOf(n *yaml.Node) (string, error) {
	key := n
	if n.Kind == yaml.AliasNode {
		key = n.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return "", wrong(n, "a list or mapping cannot be a key in JSON")
	}
	if t := tagOf(key); t != "" && !core[t] {
		return "", wrong(n, "the tag %s has no meaning in JSON: leave it out", t)
	}
	return key.Value, nil
}
