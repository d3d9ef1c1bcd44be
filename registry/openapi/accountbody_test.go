package openapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/storage/toolplan"
)

// parameters looks for those of an operation, and reports whether fields of a form are in its tool.
func (a *account) parameters(tool toolplan.Tool, item, op piece) (form bool) {
	own := map[string]bool{} // what the operation declares stands for what its path declares
	for _, p := range op.get("parameters").items() {
		found, _ := a.follow(p)
		own[placeAndName(found)] = true
	}
	for at, list := range []piece{item.get("parameters"), op.get("parameters")} {
		if list.value != nil && list.items() == nil && !a.listed(list) {
			if all, is := list.value.([]any); !is || len(all) > 0 {
				a.lose(list, "the parameters cannot be read, and are not listed")
			}
		}
		for _, p := range list.items() {
			a.counted++
			found, ok := a.follow(p)
			if a.listed(p, found) || at == 0 && own[placeAndName(found)] {
				continue
			}
			in, _ := found.object()["in"].(string)
			name, _ := found.object()["name"].(string)
			switch {
			case !ok || name == "" || in == "":
				a.lose(p, "the parameter cannot be read, and is not listed")
			case in == "formData":
				form = form || tool.Call.Body != nil && a.two
				if !a.hasField(tool, name) && !a.said(strconv.Quote(name)) {
					a.lose(found, "the field is neither an argument nor listed")
				}
			case in == "body":
				a.fields(tool, found.get("schema"))
			case in == "querystring":
				if !slices.ContainsFunc(tool.Call.Params, func(q toolplan.Param) bool {
					return q.In == "query" ||
						q.In == "querystring"
				}) {
					a.lose(found, "the query is neither an argument nor listed")
				}
			case !a.hasParam(tool, in, name) && !a.said(in, strconv.Quote(name)):
				a.lose(found, "the parameter is neither an argument nor listed")
			}
		}
	}
	return form
}

func placeAndName(p piece) string {
	in, _ := p.object()["in"].(string)
	name, _ := p.object()["name"].(string)
	if in == "header" {
		name = http.CanonicalHeaderKey(name)
	}
	return in + " " + name
}

func (a *account) hasParam(tool toolplan.Tool, in, name string) bool {
	return slices.ContainsFunc(tool.Call.Params, func(p toolplan.Param) bool {
		if in == "path" {
			before, _, _ := strings.Cut(name, ":")
			return p.In == in && (p.Name == name || p.Name == before)
		}
		return p.In == in && (p.Name == name || in == "header" &&
			http.CanonicalHeaderKey(p.Name) == http.CanonicalHeaderKey(name))
	})
}

func (a *account) hasField(tool toolplan.Tool, name string) bool {
	body := tool.Call.Body
	return body != nil && (body.Whole != "" ||
		slices.ContainsFunc(body.Fields, func(f toolplan.Field) bool { return f.Name == name }))
}

func (a *account) body(method string, tool toolplan.Tool, p piece) {
	found, ok := a.follow(p)
	content := found.get("content")
	a.counted++
	if tool.Call.Body == nil {
		if !a.listed(p, found) && !(method == "get" && a.said("of a GET")) && ok {
			a.lose(p, "the body is neither in the tool nor listed")
		}
		return
	}
	for kind := range content.object() {
		a.counted++
		media := content.get(kind)
		if strings.HasPrefix(kind, "x-") {
			continue
		}
		sent := slices.ContainsFunc(append([]string{tool.Call.Body.ContentType}, tool.Call.Body.Types...),
			func(t string) bool { return sameType(t, kind) })
		switch {
		case a.covered(media):
		case sent || strings.Contains(kind, "*") && len(content.object()) == 1:
			a.fields(tool, media.get("schema"))
		case a.listed(media) || a.said("a body may be sent as "+bareType(kind)):
		case strings.Contains(kind, "*"): // one of the others may be of the range
			a.fields(tool, media.get("schema"))
		default:
			a.lose(media, "the media type is neither sent nor listed: "+tool.Call.Body.ContentType+" is")
		}
	}
}

func bareType(kind string) string {
	bare, _, _ := strings.Cut(kind, ";")
	return strings.ToLower(strings.TrimSpace(bare))
}

// sameType compares media types with their parameters, of which charset and case say nothing here.
func sameType(a, b string) bool {
	plain := func(kind string) string {
		kind, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(kind, " ", "")), ",")
		before, after, _ := strings.Cut(kind, ";charset=")
		_, more, _ := strings.Cut(after, ";")
		return strings.TrimSuffix(before+";"+more, ";")
	}
	return plain(a) == plain(b)
}

// fields looks for the fields of an object in the body of a tool.
func (a *account) fields(tool toolplan.Tool, schema piece) {
	if tool.Call.Body == nil || tool.Call.Body.Whole != "" {
		if tool.Call.Body == nil && !a.listed(schema) && !(tool.Method == "get" && a.said("of a GET")) {
			a.lose(schema, "the body is not in the tool")
		}
		return
	}
	declared := map[string][]piece{}
	a.declared(schema, declared, map[string]bool{}, 0)
	for name, pieces := range declared {
		a.counted++
		answersOnly := slices.ContainsFunc(pieces, func(p piece) bool { return a.answersOnly(p, 0) })
		if !a.hasField(tool, name) && !a.listed(pieces...) && !(answersOnly && a.said("readOnly")) &&
			!a.said(strconv.Quote(name)) {
			a.lose(pieces[0], "the field is neither an argument nor listed")
		}
	}
}

// declared collects the properties of a schema and of what it combines.
func (a *account) declared(p piece, into map[string][]piece, open map[string]bool, level int) {
	found, ok := a.follow(p)
	if !ok || open[found.at] || level > 8 || a.listed(found) && level > 0 {
		return
	}
	open[found.at] = true
	defer delete(open, found.at)
	for name := range found.get("properties").object() {
		into[name] = append(into[name], found.get("properties").get(name))
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		for _, branch := range found.get(key).items() {
			a.declared(branch, into, open, level+1)
		}
	}
}

func (a *account) answersOnly(p piece, level int) bool {
	if p.object()["readOnly"] == true {
		return true
	}
	found, ok := a.follow(p)
	if !ok || level > 8 {
		return false
	}
	if found.object()["readOnly"] == true {
		return true
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		if slices.ContainsFunc(found.get(key).items(), func(p piece) bool { return a.answersOnly(p, level+1) }) {
			return true
		}
	}
	return false
}

// keyOf reads one part of the JSON pointer in a reference.
func keyOf(part string) string {
	if plain, err := url.PathUnescape(part); err == nil {
		part = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}
