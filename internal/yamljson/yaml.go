package yamljson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// YAML returns JSON as YAML in lines, as people write it, with the keys in their order. [JSON] makes the same of it
// again.
func YAML(text []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // numbers keep their digits
	root, err := node(dec)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(root)
}

// node reads a value. The parser of YAML would read JSON too, but takes some characters for the end of a line.
func node(dec *json.Decoder) (*yaml.Node, error) {
	next, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch next := next.(type) {
	case string:
		return scalar("!!str", next), nil
	case json.Number:
		if strings.ContainsAny(next.String(), ".eE") {
			return scalar("!!float", next.String()), nil
		}
		return scalar("!!int", next.String()), nil
	case bool:
		return scalar("!!bool", fmt.Sprint(next)), nil
	case json.Delim:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if next == '[' {
			n.Kind = yaml.SequenceNode
		}
		for dec.More() {
			part, err := node(dec)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, part)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle // [] and {}
		}
		_, err := dec.Token()
		return n, err
	}
	return scalar("!!null", "null"), nil
}

// scalar returns a value. The encoder puts quotes where a text would be something else; it is told to where a reader
// might take a character for another one.
func scalar(tag, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	odd := func(r rune) bool { return r != ' ' && (unicode.IsSpace(r) || !unicode.IsGraphic(r)) }
	words := []string{"y", "n", "yes", "no", "on", "off"} // what YAML 1.1 takes for true and false
	if tag == "!!str" && (strings.ContainsFunc(text, odd) || slices.Contains(words, strings.ToLower(text))) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
