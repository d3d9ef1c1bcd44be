package ui

import (
	"cmp"
	"html/template"
	"net/url"
	"strings"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/client"
)

// Person shows a user by their name, with their id (a sub) small beside it. The Page has Names for it. Readers who may
// not see others are shown the id alone, but for themselves. A group leads to its page. An operator is shown as it is.
func (v *View) Person(sub string) template.HTML {
	if sub == "" || strings.Contains(sub, " ") {
		return template.HTML(template.HTMLEscapeString(sub))
	}
	if group, is := access.OwningGroup(sub); is {
		return v.Named(Root+"groups/"+url.PathEscape(group), v.T("Group")+" "+group, sub)
	}
	if v.Actor.Reader() != nil && sub != v.Actor.Sub {
		return template.HTML(`<code>` + template.HTMLEscapeString(sub) + `</code>`)
	}
	name, path := v.users[sub], ""
	if name == "" {
		name = v.T("a removed user")
	} else if v.Actor.Reader() == nil {
		path = Root + "users/" + url.PathEscape(sub)
	}
	return v.Named(path, name, sub)
}

// App shows an application or an agent by its name, with its id (a client_id) small beside it. The Page has Names for
// it. Calls with an API key, or from this console, have a word in place of a name.
func (v *View) App(id string) template.HTML { return v.AppAs(v.apps[id], "", id) }

// AppAs is App for an application whose name is known, and that leads to another path than that of its own page; "":
// to that.
func (v *View) AppAs(name, to, id string) template.HTML {
	called, path := v.called(id, name)
	switch {
	case path == "":
		return template.HTML(template.HTMLEscapeString(called))
	case called == "":
		return v.Named("", v.T("a removed application"), id)
	case to != "":
		path = to
	}
	return v.Named(path, called, id)
}

// PersonName returns what a user is called; "": nobody has the id (a sub). The Page has Names for it.
func (v *View) PersonName(sub string) string { return v.users[sub] }

// AppName returns what an application or an agent is called; "": it was removed. The Page has Names for it.
func (v *View) AppName(id string) string {
	name, _ := v.called(id, v.apps[id])
	return name
}

// called returns what an application is called, and its page; "": it has none.
func (v *View) called(id, name string) (called, path string) {
	switch id {
	case "":
		return "", ""
	case storage.KeysAppID:
		return v.T("API key"), ""
	case storage.ConsoleAppID:
		return v.T("Console"), ""
	}
	if strings.HasPrefix(id, client.DocumentPrefix) {
		if u, err := url.Parse(id); err == nil {
			name = cmp.Or(name, u.Hostname())
		}
		return name, Root + "clients/show?id=" + url.QueryEscape(id)
	}
	if client.IsID(id) {
		return name, Root + "clients/show?id=" + url.QueryEscape(id)
	}
	return name, Root + "apps/" + url.PathEscape(id)
}

// Named shows a name, which leads to a path, with an id small beside it: the script adds a button that copies it.
// Without a path it leads nowhere.
func (v *View) Named(path, name, id string) template.HTML {
	var out strings.Builder
	out.WriteString(`<span class="named">`)
	shown := `<bdi>` + template.HTMLEscapeString(name) + `</bdi>`
	if path != "" {
		shown = `<a href="` + template.HTMLEscapeString(path) + `">` + shown + `</a>`
	}
	out.WriteString(shown + ` <small class="id"><code>` + template.HTMLEscapeString(id) + `</code></small></span>`)
	return template.HTML(out.String())
}
