package mcpcall

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage/toolplan"
)

// kept are the members of a tool that are read.
var kept = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution"}

// Bounds of what is kept beside a tool's text and input schema: all together fit into one tool of the bus.
const (
	maxOutput = 32 << 10 // bytes of the output schema of a tool
	maxIcons  = 8 << 10  // bytes of its icons
	maxParts  = 1000     // parts of tools that are listed as left out
)

// keep reads what clients show beside the description: titles, hints and icons, as the upstream gives them. A
// part that cannot be kept is listed, and costs the tool nothing else.
func (in *intake) keep(t *imported, m map[string]raw) {
	t.Title = in.text(t.at, m["title"], "title")
	t.Annotations = in.annotations(t.at, m["annotations"])
	t.ReadOnly = t.Annotations != nil && t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly
	t.Icons = in.icons(t.at, m["icons"])
	if v := m["outputSchema"]; present(v) {
		var err error
		if t.OutputSchema, err = toolschema.SanitizeAnswer(v, maxOutput); err != nil {
			in.leave(t.at, err.Error(), "outputSchema")
		}
	}
	if support, _ := stringOf(object(m["execution"])["taskSupport"]); support == "optional" {
		in.leave(t.at, "calls are answered at once: this service does not run them as tasks", "execution",
			"taskSupport")
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch {
		case slices.Contains(kept, name) || !present(m[name]):
		case name == "_meta":
			in.leave(t.at, "it is meant for a client of the upstream itself, and may name resources that are not on "+
				"the bus", name)
		default:
			in.leave(t.at, "it is no part of a tool that is known here", name)
		}
	}
}

// leave lists a part of an entry that is left out.
func (in *intake) leave(at int, why string, path ...string) {
	pointer := "/tools/" + strconv.Itoa(at)
	for _, name := range path {
		pointer += "/" + escapePointer.Replace(name)
	}
	in.list(pointer, why)
}

func (in *intake) list(pointer, why string) {
	if in.parts++; in.parts <= maxParts {
		in.skipped = append(in.skipped, toolplan.Skip{Pointer: toolschema.Text(pointer), Reason: toolschema.Text(why)})
	}
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1") // RFC 6901

// text reads a text of an entry, "" for none.
func (in *intake) text(at int, v raw, path ...string) string {
	s, ok := stringOf(v)
	if !ok && present(v) {
		in.leave(at, "it is no text", path...)
	}
	return toolschema.Text(s)
}

// annotations reads the hints of an entry. A hint is kept as the upstream gives it, false as well as true:
// without hints, a client takes a tool for one that destroys and that acts on the world.
func (in *intake) annotations(at int, v raw) *toolplan.Annotations {
	m := object(v)
	if m == nil && present(v) {
		in.leave(at, "it is no object, or names a member twice", "annotations")
	}
	var a toolplan.Annotations
	hints := map[string]**bool{
		"readOnlyHint": &a.ReadOnly, "destructiveHint": &a.Destructive, "idempotentHint": &a.Idempotent,
		"openWorldHint": &a.OpenWorld,
	}
	a.Title = in.text(at, m["title"], "annotations", "title")
	for _, name := range slices.Sorted(maps.Keys(m)) {
		hint, known := hints[name]
		switch said := string(m[name]); {
		case name == "title" || !present(m[name]):
		case known && (said == "true" || said == "false"):
			yes := said == "true"
			*hint = &yes
		case known:
			in.leave(at, "it is neither true nor false", "annotations", name)
		default:
			in.leave(at, "it is no hint that is known here", "annotations", name)
		}
	}
	if a == (toolplan.Annotations{}) {
		return nil
	}
	return &a
}

// icons reads the icons that hold their picture. One at an address is left out: clients are to accept only those of
// the server that they are connected to (MCP 2025-11-25, Icons), and to fetch it would tell the upstream who they are.
func (in *intake) icons(at int, v raw) (out []toolplan.Icon) {
	if !present(v) {
		return nil
	}
	if v[0] != '[' {
		in.leave(at, "it is no list", "icons")
		return nil
	}
	i, size := 0, 0
	for entry := range rawjson.Elements(v) {
		icon, why := readIcon(entry)
		if size += len(entry); why == "" && size > maxIcons {
			why = fmt.Sprintf("the icons of a tool may have %d bytes", maxIcons)
		}
		if why != "" {
			in.leave(at, why, "icons", strconv.Itoa(i))
		} else {
			out = append(out, icon)
		}
		i++
	}
	return out
}

var (
	iconSource = pattern.Lazy(`^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$`)
	iconSize   = pattern.Lazy(`^([0-9]{1,5}x[0-9]{1,5}|any)$`)
)

// readIcon reads an icon. It says why, if there is none that clients can show.
func readIcon(v raw) (icon toolplan.Icon, why string) {
	m := object(v)
	icon.Source, _ = stringOf(m["src"])
	icon.Type, _ = stringOf(m["mimeType"])
	icon.Theme, _ = stringOf(m["theme"])
	switch {
	case strings.HasPrefix(icon.Source, "https:") || strings.HasPrefix(icon.Source, "http:"):
		return icon, "clients would fetch it from the upstream itself: give it as a data URL"
	case !iconSource().MatchString(icon.Source): // an SVG may hold scripts
		return icon, "it has no src that is a data URL, in base64, of a PNG, JPEG or WebP"
	case icon.Type != "" && !isMedia("image/")(icon.Type):
		return icon, "its mimeType is not that of an image"
	}
	if icon.Theme != "light" && icon.Theme != "dark" {
		icon.Theme = ""
	}
	if sizes := m["sizes"]; present(sizes) && sizes[0] == '[' {
		for size := range rawjson.Elements(sizes) {
			if s, _ := stringOf(size); iconSize().MatchString(s) {
				icon.Sizes = append(icon.Sizes, s)
			}
		}
	}
	return icon, ""
}
