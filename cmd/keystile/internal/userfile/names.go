package userfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin/importacts"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/claim"
)

// googleIssuer is the issuer of Google, whatever a product calls it.
const googleIssuer = "https://accounts.google.com"

// names are the names of a file that are written in our way, and the issuers of its providers.
type names struct {
	groups  map[string]string // what a group was called in the file, by its name here
	issuers map[string]string // of providers, by what the file calls them
}

func newNames(issuers map[string]string) *names {
	n := &names{map[string]string{}, map[string]string{"google": googleIssuer, "google-oauth2": googleIssuer}}
	maps.Copy(n.issuers, issuers)
	return n
}

// issuer keeps the issuer of a provider that the file itself tells, unless the operator has said it.
func (n *names) issuer(provider, issuer string) {
	if _, told := n.issuers[provider]; !told && provider != "" && issuer != "" {
		n.issuers[provider] = issuer
	}
}

// identify adds the identity of a user at a provider.
func (n *names) identify(r *importacts.Row, provider, id string) error {
	issuer, known := n.issuers[provider]
	switch {
	case !known:
		return fmt.Errorf("the user signs in by %q, whose issuer is not known: say --issuer %s=URL, or --issuer %s= to "+
			"leave it out", provider, provider, provider)
	case issuer != "" && id != "":
		r.ExternalIDs = append(r.ExternalIDs, "oidc:"+issuer+":"+id)
	}
	return nil
}

// group adds a group by the name that another product has for it. Two that would be one here refuse the row of the
// later one: the members of the one would have what the other may.
func (n *names) group(r *importacts.Row, original string) error {
	name := strings.TrimLeft(dashed(original, ".-", '-'), "._-")
	name = strings.TrimRight(name, "-")
	if !access.IsGroupName(name) {
		return fmt.Errorf("groups: %q: the name of a group is %s: rename it there", original, access.GroupNameForm)
	}
	if other, there := n.groups[name]; there && other != original {
		return fmt.Errorf("groups: %q and %q would both be %q: rename one there", other, original, name)
	}
	n.groups[name] = original
	r.Groups = append(r.Groups, name)
	return nil
}

// dashed is a text in lower case, with one dash for all that it may not have between a to z, 0 to 9, _ and more.
func dashed(text, more string, dash rune) string {
	var out strings.Builder
	open := false
	for _, c := range strings.ToLower(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', strings.ContainsRune(more, c):
			if open {
				out.WriteRune(dash)
			}
			open = false
			out.WriteRune(c)
		default:
			open = true
		}
	}
	return out.String()
}

// attribute adds an attribute. A list of one value is that value; whatever else is no text is written as JSON.
func attribute(r *importacts.Row, original string, value json.RawMessage) error {
	name := dashed(snake(original), "", '_')
	if !claim.IsAttribute(name) {
		return fmt.Errorf("attributes: %q: a name is %s: rename it there", original, claim.AttributeForm)
	}
	text := textValue(value)
	if text == "" {
		return nil
	}
	if _, there := r.Attributes[name]; there {
		return fmt.Errorf("attributes: %q would be %q, as another one is: rename one there", original, name)
	}
	if r.Attributes == nil {
		r.Attributes = map[string]string{}
	}
	r.Attributes[name] = text
	return nil
}

// attributes adds some attributes, in the order of their names.
func attributes(r *importacts.Row, all map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := attribute(r, name, all[name]); err != nil {
			return err
		}
	}
	return nil
}

// snake writes the words of a name in camel case apart.
func snake(name string) string {
	var out strings.Builder
	lower := false
	for _, c := range name {
		upper := c >= 'A' && c <= 'Z'
		if upper && lower {
			out.WriteByte('_')
		}
		lower = c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		out.WriteRune(c)
	}
	return out.String()
}

func textValue(value json.RawMessage) string {
	var one string
	var list []json.RawMessage
	switch {
	case len(value) == 0, string(value) == "null":
		return ""
	case json.Unmarshal(value, &one) == nil:
		return one
	case json.Unmarshal(value, &list) == nil && len(list) == 0:
		return ""
	case len(list) == 1:
		return textValue(list[0])
	}
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return ""
	}
	return out.String()
}

// fullName is a name for display, or what it is made of.
func fullName(display, first, last string) string {
	if display = strings.TrimSpace(display); display != "" {
		return display
	}
	return strings.Join(strings.Fields(first+" "+last), " ")
}
