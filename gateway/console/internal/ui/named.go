package ui

import (
	"html/template"
	"net/url"
	"strings"
)

// Person shows a user by their name, with their id (a sub) small beside it. The Page has Names for it.
func (v *View) Person(sub string) template.HTML {
	if sub == "" {
		return ""
	}
	name, path := v.users[sub], ""
	if name == "" {
		name = v.T("a removed user")
	} else if v.leads(Root + "users") {
		path = Root + "users/" + url.PathEscape(sub)
	}
	return v.Named(path, name, sub)
}

// App shows an application or an agent by its name, with its id (a client_id) small beside it. The Page has Names for
// it. Calls with an API key, or from this console, have a word in place of a name.
func (v *View) App(id string) template.HTML {
	switch id {
	case "":
		return ""
	case "apikey":
		return template.HTML(template.HTMLEscapeString(v.T("API key")))
	case "console":
		return template.HTML(template.HTMLEscapeString(v.T("Console")))
	}
	name, path := v.apps[id], Root+"apps/"+url.PathEscape(id)
	if u, err := url.Parse(id); err == nil && strings.HasPrefix(id, "https://") { // its metadata document
		name, path = u.Host, Root+"clients/of?id="+url.QueryEscape(id)
	}
	if name == "" {
		name, path = v.T("a removed application"), ""
	}
	return v.Named(path, name, id)
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
