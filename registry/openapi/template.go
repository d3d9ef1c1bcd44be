package openapi

import (
	"regexp"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/pattern"
)

var (
	placeholder = pattern.Lazy(`\{([^{}]+)\}`)
	expansion   = pattern.Lazy(`\{[?&#][^{}]*\}`)
)

// plainTemplate is a path without what some documents append to it: the queries
// of RFC 6570, whose names are declared as parameters too.
func plainTemplate(path string) string {
	if !strings.ContainsAny(path, "?&#") {
		return path
	}
	return expansion().ReplaceAllString(path, "")
}

// placeholders returns the names in the braces of a template, each once, in their order.
// Behind ? and # and across segments braces are no placeholders: a request has no place
// there that an argument could fill.
func placeholders(template string) (names []string) {
	template = plainTemplate(template)
	if i := strings.IndexAny(template, "?#"); i >= 0 {
		template = template[:i]
	}
	for _, m := range placeholder().FindAllStringSubmatch(template, -1) {
		if !strings.Contains(m[1], "/") && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// publicPath writes {x} as :x (protocol 4.8, rule 2).
func publicPath(template string) string {
	return placeholder().ReplaceAllString(template, ":$1")
}

// tidyTemplate returns a path in which each placeholder is {name}, and the names whose values may have slashes.
// Documents of routers say more in the braces: {id:int}, {id:[0-9]+}, {file:path}, {path...}, {*path},
// {name=projects/*}, {+path}, {id?}. A placeholder whose name would be there twice then stays as it is written.
//
// The text beside the name in a placeholder of a path, as in {id:int}, {file:path} or {name=projects/*}, is for the
// API's own router: only the name counts, but slashes in a value stay where that text admits them. A declared path
// parameter is also found as :id and <id>. The queries of RFC 6570 are not sent.
func tidyTemplate(path string) (template string, slashed []string) {
	if path = plainTemplate(path); !strings.Contains(path, "{") || !strings.ContainsAny(path, ":=+*?. ") {
		return path, nil // as nearly all are
	}
	var out strings.Builder
	written := map[string]string{} // by name
	for path != "" {
		before, rest, found := strings.Cut(path, "{")
		out.WriteString(before)
		if !found {
			break
		}
		end := closingBrace(rest)
		if end < 0 {
			out.WriteString("{" + rest)
			break
		}
		inner := rest[:end]
		path = rest[end+1:]
		name, slashes := placeholderName(inner)
		if was, there := written[name]; name == "" || there && was != inner {
			out.WriteString("{" + inner + "}")
			continue
		}
		written[name] = inner
		if slashes && !slices.Contains(slashed, name) {
			slashed = append(slashed, name)
		}
		out.WriteString("{" + name + "}")
	}
	return out.String(), slashed
}

// closingBrace returns where the brace closes that was opened before a text, -1 if it does not.
func closingBrace(text string) int {
	open := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

// placeholderName returns the name that stands between the braces of a placeholder, "" if none can be told from
// what else is there, and whether its value may have slashes.
func placeholderName(inner string) (name string, slashes bool) {
	name, pattern, _ := strings.Cut(inner, ":")
	if before, after, is := strings.Cut(name, "="); is {
		name, pattern = before, after
	}
	trimmed := strings.TrimSuffix(strings.TrimLeft(strings.TrimSpace(name), "+*"), "?")
	name = strings.TrimSuffix(strings.TrimRight(trimmed, "*"), "...")
	slashes = len(name) < len(trimmed) || strings.HasPrefix(inner, "+") || strings.HasPrefix(inner, "*")
	switch pattern = strings.TrimSpace(pattern); {
	case pattern == "path", pattern == "**", strings.HasPrefix(pattern, ".*"), strings.HasPrefix(pattern, ".+"),
		strings.Contains(pattern, "/"):
		slashes = true
	}
	if strings.ContainsAny(name, "/{}") {
		return "", false
	}
	return name, slashes
}

// fitTemplate returns the template of an operation with a place for the path parameters it declares which the
// document writes in other ways: :id, <id> and <int:id>.
func fitTemplate(template string, parameters []parameter) string {
	var missing []string
	for _, p := range parameters {
		if p.in == "path" && !strings.Contains(template, "{"+p.name+"}") && !strings.ContainsAny(p.name, "{}/<>") {
			missing = append(missing, p.name)
		}
	}
	if len(missing) == 0 || !strings.ContainsAny(template, ":<") {
		return template
	}
	for _, name := range missing {
		written := regexp.MustCompile(`<(?:[^<>/]*:)?` + regexp.QuoteMeta(name) + `>`)
		template = written.ReplaceAllLiteralString(template, "{"+name+"}")
	}
	if fitting, _, err := colonsToBraces(template, missing); err == nil {
		return fitting
	}
	return template
}

// withoutDeclared returns a template without the parts of its query that show where a query parameter goes, which the
// operation declares: ?id={id}. The argument is sent in their place.
func withoutDeclared(template string, parameters []parameter) string {
	path, query, found := strings.Cut(template, "?")
	if !found || !strings.Contains(query, "{") {
		return template
	}
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		shown := strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}")
		declared := func(p parameter) bool { return p.in == "query" && p.name == name }
		if !shown || !slices.ContainsFunc(parameters, declared) {
			kept = append(kept, pair)
		}
	}
	if len(kept) == 0 {
		return path
	}
	return path + "?" + strings.Join(kept, "&")
}
