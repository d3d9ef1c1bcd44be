package page

import (
	"html/template"
	"io"
	"sync"
)

// Template is a template that is parsed when it is first shown. A program has many pages and shows few
// of them soon, or ever: to parse all took longer than most else that it does to start, and memory for good.
type Template struct{ parsed func() *template.Template }

var (
	parsing   sync.Mutex
	templates []*Template
)

// Lazily makes a Template of what parse returns. parse panics on an error, as template.Must does.
func Lazily(parse func() *template.Template) *Template {
	t := &Template{sync.OnceValue(parse)}
	parsing.Lock()
	defer parsing.Unlock()
	templates = append(templates, t)
	return t
}

// Parsed returns the template itself.
func (t *Template) Parsed() *template.Template { return t.parsed() }

// Execute writes the template with data.
func (t *Template) Execute(w io.Writer, data any) error { return t.parsed().Execute(w, data) }

// ParseAll parses the Templates of the program, and returns how many there are. It panics at one that cannot be
// parsed: it is for a test, which finds what would otherwise be found when somebody opens the page.
func ParseAll() int {
	parsing.Lock()
	defer parsing.Unlock()
	for _, t := range templates {
		t.parsed()
	}
	return len(templates)
}
