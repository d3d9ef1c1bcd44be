package profile

import (
	"context"
	"net/http"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
)

// attribute is one that the page shows.
type attribute struct {
	Name, Text string
	Shown      string // a hash of the text that the page was shown with
}

func (a attribute) Field() string      { return field(a.Name) }
func (a attribute) ShownField() string { return shownField(a.Name) }

// Names of fields: that of an attribute is no name of a part of the profile, which may have the same.
func field(name string) string      { return "attribute." + name }
func shownField(name string) string { return "shown." + name }

// fields returns the names of the fields of the form, of which some are given.
func (p *Page) fields(names ...string) []string {
	for _, name := range p.Listed {
		names = append(names, field(name), shownField(name))
	}
	return names
}

// attributes returns the listed attributes of a user with the changes that the user has typed.
func (p *Page) attributes(u storage.User, typed []users.AttributeChange) []attribute {
	texts := map[string]string{}
	for _, c := range typed {
		texts[c.Name] = c.Is
	}
	var all []attribute
	for _, name := range p.Listed {
		was := asShown(u.Attributes[name])
		text, there := texts[name]
		if !there {
			text = was
		}
		all = append(all, attribute{name, text, handle.Hash(was)})
	}
	return all
}

// asShown returns a text as a field of one line sends it back if it was left alone.
func asShown(text string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, text))
}

// changes returns what a form changes of a user's listed attributes. Stale is the first attribute that the form
// changes and somebody else has changed since it was shown, "" if there is none.
func (p *Page) changes(form map[string]string, u storage.User) (all []users.AttributeChange, stale string) {
	for _, name := range p.Listed {
		is, sent := form[field(name)]
		shown, known := form[shownField(name)]
		was := asShown(u.Attributes[name])
		switch {
		case !sent || is == was || known && shown == handle.Hash(is):
		case !known || shown == handle.Hash(was):
			all = append(all, users.AttributeChange{Name: name, Was: u.Attributes[name], Is: is})
		case stale == "":
			stale = name
		}
	}
	return all, stale
}

// mistaken returns the field of the first attribute that is to be filled in differently, and why, in English.
func mistaken(changes []users.AttributeChange) (wrong, alert string) {
	for _, c := range changes {
		if len(c.Is) > claim.MaxAttribute || !line(c.Is) {
			return field(c.Name), "An attribute is one line of visible characters: 1,024 at most, and fewer if they are Chinese."
		}
	}
	return "", ""
}

// store saves a profile, and the attributes that change with it.
func (p *Page) store(ctx context.Context, sub string, in users.Profile,
	changes []users.AttributeChange) (before users.Profile, err error) {
	if len(changes) == 0 {
		return p.Users.SetProfile(ctx, sub, in)
	}
	return p.Attributes.SetProfileWith(ctx, sub, in, changes)
}

// unfit says why a profile that the page finds nothing wrong with is not saved.
func unfit(changes []users.AttributeChange) string {
	if len(changes) > 0 {
		return "This cannot be saved as it is: a user has at most 32 attributes, with those that are not on this page. " +
			"Empty one of them, or ask an administrator to remove one."
	}
	return "This profile cannot be saved as it is. Change it, then save it again."
}

// overtaken answers a form that changes an attribute which somebody else has changed meanwhile. The page shows what is
// stored of it now, and the rest as it was typed.
func (p *Page) overtaken(w http.ResponseWriter, r *http.Request, own view, form map[string]string) error {
	_, u, err := p.Sessions.Visit(r)
	if err != nil {
		return err
	}
	changes, stale := p.changes(form, u)
	own.Attributes, own.Wrong = p.attributes(u, changes), field(stale)
	own.Alert = "Nothing is saved, because somebody else has changed an attribute meanwhile. It is shown as it is now: " +
		"look at it, then save again."
	return p.show(w, r, http.StatusConflict, own)
}
