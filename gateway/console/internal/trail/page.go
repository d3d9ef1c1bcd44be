package trail

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
)

// browsed is a page of records for people.
type browsed struct {
	found
	Kinds   []kind
	Classes []string
	All     bool      // the reader sees everybody's records, and what people are called
	Set     []setting // the filters that are set
	Query   string    // of the files with the same filters
}

// setting is a filter that is set.
type setting struct {
	Title, Value string
	Is           string // the field: "kind" has a word of ours, "sub", "client_id" and "agent" an id that has a name
}

// filters are those of the page, by the name of their field.
var filters = []struct{ name, title string }{
	{"from", "From (UTC)"}, {"to", "To (UTC)"}, {"sub", "User"}, {"client_id", "Application"}, {"agent", "Agent"},
	{"kind", "What"}, {"status", "Status"}, {"ip", "Address"}, {"request_id", "Request id"},
}

// browse is list for a page, whose filters take names.
func (t *Trail) browse(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	v := browsed{Kinds: kinds, Classes: classes, All: who.Reader() == nil}
	kept := url.Values{}
	for _, f := range filters {
		value := r.URL.Query().Get(f.name)
		if value == "" {
			continue
		}
		kept.Set(f.name, value)
		if f.name == "kind" {
			value = record{Kind: value}.Title()
		}
		v.Set = append(v.Set, setting{f.title, ui.Shown(value, 60), f.name})
	}
	v.Query = kept.Encode()
	asked, err := t.named(r, who)
	if err != nil {
		return v, err
	}
	all, err := t.list(w, asked, who)
	if err != nil {
		return nil, err
	}
	v.found = all.(found)
	return v, nil
}

// shown is a record for people.
type shown struct {
	record
	All bool // see browsed
}

// Raw returns the record as programs get it.
func (s shown) Raw() string {
	text, err := json.MarshalIndent(s.record, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Milliseconds returns how long it took.
func (s shown) Milliseconds() float64 { return float64(s.Micros/100) / 10 }

// showOne is show for a page.
func (t *Trail) showOne(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	one, err := t.show(w, r, who)
	if err != nil {
		return nil, err
	}
	return shown{one.(record), who.Reader() == nil}, nil
}

// namesOf returns whom a page calls by their names. Owners of applications see what was done with these, and not what
// people are called who used them.
func namesOf(data any) (apps, users []string) {
	var all []record
	everybody := false
	switch data := data.(type) {
	case browsed:
		all, everybody = data.Records, data.All
		for _, set := range data.Set {
			switch {
			case set.Is == "client_id" && everybody:
				apps = append(apps, set.Value)
			case set.Is == "sub" && everybody:
				users = append(users, set.Value)
			case set.Is == "agent" && everybody:
				apps, users = append(apps, set.Value), append(users, set.Value)
			}
		}
	case shown:
		all, everybody = []record{data.record}, data.All
	}
	for _, r := range all {
		apps = append(apps, r.App)
		if !everybody {
			continue
		}
		apps, users = append(apps, r.Act...), append(append(users, r.User), r.Act...)
		if by := r.Actor(); !r.Operator() {
			apps, users = append(apps, by), append(users, by)
		}
	}
	return apps, users
}
