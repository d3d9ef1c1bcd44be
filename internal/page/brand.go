package page

import (
	"cmp"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/storage"
)

// Brand holds the name, logo and color of a page (protocol 8: what free keeps, the paid tiers may replace).
type Brand struct {
	Name  string // of the application; "": the service itself
	Logo  string // an https address, or a path of ours; anything else is not shown
	Color string // #rrggbb; anything else is Keystile's own
	Mark  bool   // shows the Keystile mark
}

// BrandOf is the brand of an application. The zero App is the service itself. A brand of
// its own is shown as long as the tier that allows it lasts; it is kept in any. An application that
// nobody registered is called by the host of its document, which is certain, and not by the name that
// it claims; one that has no document is not called anything.
func BrandOf(app storage.App) Brand {
	if app.Client != nil {
		return Brand{Name: app.Host(), Mark: true}
	}
	b := Brand{Name: Shown(app.Name), Mark: true}
	switch app.TierAt(time.Now()) {
	case storage.TierWhiteLabel, storage.TierEnterprise:
		b.Mark = false
	}
	if own := app.Brand; own != nil && !b.Mark {
		b.Name, b.Logo, b.Color = cmp.Or(Shown(own.Name), b.Name), own.Logo, own.Color
	}
	return b
}

// Shown drops what cannot be seen: with a bidi override in it, a name could rewrite the
// sentence around it.
func Shown(name string) string {
	visible := func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}
	return strings.Join(strings.Fields(strings.Map(visible, name)), " ")
}

// Letter stands in for a logo: the first letter or digit of the name, "" if it has none.
func (b Brand) Letter() string {
	for _, r := range b.Name {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return ""
}

// LogoURL is the logo as far as it is safe to show, "" if there is none.
func (b Brand) LogoURL() string {
	switch {
	case strings.HasPrefix(b.Logo, "https://"):
		return b.Logo
	case strings.HasPrefix(b.Logo, "/") && !strings.HasPrefix(b.Logo, "//") && !strings.Contains(b.Logo, "\\"):
		return b.Logo
	}
	return ""
}
