package toolpins

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/toolplan"
)

// Change is one place in which a tool that is held differs from the accepted one.
type Change struct {
	At     string `json:"at"`     // a JSON pointer, such as /inputSchema/properties/to
	Before string `json:"before"` // what was accepted there: a text, or JSON; "" if there was nothing
	After  string `json:"after"`  // what is held; "" if there is nothing
	Note   string `json:"note,omitempty"`
}

// maxChanges bounds the places that are listed of one tool.
const maxChanges = 200

// Difference lists in what a tool differs from the accepted one, in the order of the places. Without an accepted one,
// which has no name then, everything is new. In a tool with too many places the last one is the whole tool, because
// what is not listed would be accepted unseen.
func Difference(before, after toolplan.Tool) []Change {
	d, was, is := &difference{}, shown(before), shown(after)
	if d.walk("", was, is); len(d.all) > maxChanges {
		whole := Change{After: text(is), Note: "more places differ than are listed: this is the whole tool"}
		if before.Name != "" {
			whole.Before = text(was)
		}
		d.all = append(d.all[:maxChanges-1], whole)
	}
	return d.all
}

// shown is a tool as a value, without its name, by which it is known.
func shown(t toolplan.Tool) any {
	if t.Name == "" {
		return map[string]any{}
	}
	text, _ := json.Marshal(t) // it was decoded from JSON
	v, _ := valueOf(text).(map[string]any)
	delete(v, "name")
	return v
}

type difference struct{ all []Change }

func (d *difference) walk(at string, before, after any) {
	if len(d.all) > maxChanges {
		return
	}
	was, one := before.(map[string]any)
	is, two := after.(map[string]any)
	if !one || !two {
		d.leaf(at, before, after)
		return
	}
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d.walk(at+"/"+escape.Replace(name), member(was, name), member(is, name))
	}
}

// absent is the value of a member that is not there, which null is.
type absent struct{}

func member(of map[string]any, name string) any {
	if v, there := of[name]; there {
		return v
	}
	return absent{}
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func (d *difference) leaf(at string, before, after any) {
	c := Change{At: at, Before: text(before), After: text(after)}
	if c.Before == c.After && fmt.Sprintf("%T", before) == fmt.Sprintf("%T", after) {
		return
	}
	c.Note = lookalike([]rune(c.Before), []rune(c.After))
	d.all = append(d.all, c)
}

// text writes a value: a text as it is, what is absent as "", everything else as JSON.
func text(v any) string {
	switch v := v.(type) {
	case absent:
		return ""
	case string:
		return v
	}
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	to.Encode(v) // what was decoded can be encoded
	return strings.TrimSuffix(out.String(), "\n")
}

// lookalike names the first code points in which two texts differ, if one of them is not ASCII, because a reader may
// not see such a difference.
func lookalike(before, after []rune) string {
	for i := range min(len(before), len(after)) {
		if a, b := before[i], after[i]; a != b {
			if a < 0x80 && b < 0x80 {
				return ""
			}
			return fmt.Sprintf("from character %d on: U+%04X is U+%04X now", i+1, a, b)
		}
	}
	return ""
}
