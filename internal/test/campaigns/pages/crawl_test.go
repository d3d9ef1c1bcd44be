package pages

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/test/filled"
)

var (
	// oneOfMany stands in the path of a page of one thing; two such pages differ in what they tell alone.
	oneOfMany = regexp.MustCompile(`/(u[a-z2-7]{26}|ks-?[a-z2-7]{20}|or\d{14}\w+|\d+)(/|$)`)
	// noPage is in an address that answers with a file.
	noPage = regexp.MustCompile(`/csv|/export|\.json|\.csv`)
)

// shapeOf is the same for addresses of one page: ids count as one, and of the query the names, and the values that
// choose what the page shows.
func shapeOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	path, q := u.Path, u.Query()
	for range 2 { // two ids that stand side by side share a slash
		path = oneOfMany.ReplaceAllString(path, "/*$2")
	}
	var names []string
	for name, values := range q {
		switch name {
		case "lang", "after", "before", "done", "shown":
		case "by", "granularity", "tab", "view":
			names = append(names, name+"="+values[0])
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.TrimSuffix(path+"?"+strings.Join(names, "&"), "?")
}

// nameOf makes the name of a picture from the shape of a page.
func nameOf(shape string) string {
	return strings.Trim(strings.NewReplacer("/", "-", "*", "one", "?", "-", "&", "-", "=", "-").Replace(shape), "-")
}

// links are the pages of the console that the page leads to.
func (v *walkthrough) links() (all []string) {
	v.t.Helper()
	v.Ask(`[...document.querySelectorAll("a[href]:not([download])")].map((a) => a.href)`, &all)
	return slices.DeleteFunc(all, func(at string) bool {
		return !strings.HasPrefix(at, v.s.base+"/console/") || noPage.MatchString(at)
	})
}

// crawl opens a page of each shape, of those that are given and all that they lead to, and does something there.
func (v *walkthrough) crawl(begin []string, do func(shape string)) {
	v.t.Helper()
	been := map[string]bool{}
	for len(begin) > 0 {
		at := begin[0]
		begin = begin[1:]
		at, _, _ = strings.Cut(at, "#")
		shape := shapeOf(strings.TrimPrefix(at, v.s.base))
		if been[shape] {
			continue
		}
		been[shape] = true
		v.Open(at)
		begin = append(begin, v.links()...)
		do(shape)
	}
	if len(been) < 50 {
		v.t.Errorf("only %d pages of the console are found", len(been))
	}
	v.t.Logf("%d pages of the console", len(been))
}

// addresses are those of the pages of a service that has been used.
func (f *usedService) addresses() (all []string) {
	for _, page := range f.pages() {
		all = append(all, f.base+page.path)
	}
	return append(all, f.base+"/console/capabilities/bookshop/tools/findOrders",
		f.base+"/console/clients/show?id="+url.QueryEscape(filled.DocumentID))
}
