package toolpins

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/keystile/keystile/storage/toolplan"
)

// Compare returns of the accepted tools those that the upstream still lists, as they were accepted, and the names of
// the others; and of those that were found the ones that are new or differ, by name.
func Compare(accepted, found []toolplan.Tool) (live, held []toolplan.Tool, gone []string) {
	known, listed := make(map[string]toolplan.Tool, len(accepted)), make(map[string]bool, len(found))
	for _, t := range accepted {
		known[t.Name] = t
	}
	for _, t := range found {
		listed[remote(t)] = true
		if was, there := known[t.Name]; !there || !Same(was, t) {
			held = append(held, t)
		}
	}
	for _, t := range accepted {
		if listed[remote(t)] {
			live = append(live, t)
		} else {
			gone = append(gone, t.Name)
		}
	}
	slices.SortFunc(held, byName)
	slices.Sort(gone)
	return live, held, gone
}

func remote(t toolplan.Tool) string { return cmp.Or(t.RemoteName, t.Name) }

func byName(a, b toolplan.Tool) int { return cmp.Compare(a.Name, b.Name) }

// Same reports whether two tools are the same in all that is stored of them.
func Same(a, b toolplan.Tool) bool {
	return reflect.DeepEqual(a, b) || bytes.Equal(canonical(a), canonical(b))
}

// canonical is the JSON of a tool with the members of its objects in order.
func canonical(t toolplan.Tool) []byte {
	text, err := json.Marshal(t)
	if err != nil {
		return nil
	}
	ordered, err := json.Marshal(valueOf(text)) // an object of any kind is written in the order of its names
	if err != nil {
		return text
	}
	return ordered
}

// valueOf decodes JSON with numbers as they are written.
func valueOf(text []byte) (v any) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if in.Decode(&v) != nil {
		return nil
	}
	return v
}

// Digest identifies tools that are held; "" for none.
func Digest(held []toolplan.Tool) string {
	if len(held) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, t := range slices.SortedFunc(slices.Values(held), byName) {
		sum.Write(append(canonical(t), '\n'))
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Merge returns the accepted tools with others in the place of those that have their names, and beside them. Tools that
// are gone are left out.
func Merge(accepted, more []toolplan.Tool, gone []string) []toolplan.Tool {
	replaced := map[string]toolplan.Tool{}
	for _, t := range more {
		replaced[t.Name] = t
	}
	var out []toolplan.Tool
	for _, t := range accepted {
		by, there := replaced[t.Name]
		delete(replaced, t.Name)
		switch {
		case there:
			out = append(out, by)
		case !slices.Contains(gone, t.Name):
			out = append(out, t)
		}
	}
	for _, t := range more {
		if _, there := replaced[t.Name]; there {
			out = append(out, t)
		}
	}
	return out
}

// Adopt returns stored tools of an older version, which kept less of a tool, with what it left out: a tool that is
// found as it was stored, in all that was stored then, takes the place of the stored one.
func Adopt(stored, found []toolplan.Tool) []toolplan.Tool {
	out, by := slices.Clone(stored), make(map[string]toolplan.Tool, len(found))
	for _, t := range found {
		by[t.Name] = t
	}
	for i, was := range out {
		if t, there := by[was.Name]; there && Same(was, kept(t)) {
			out[i] = t
		}
	}
	return out
}

// kept returns the parts of a tool that the previous version stored.
func kept(t toolplan.Tool) toolplan.Tool {
	return toolplan.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, RemoteName: t.RemoteName,
		ReadOnly: t.ReadOnly}
}
