package ui

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/stash"
	"github.com/keystile/keystile/internal/admin"
)

const (
	onceLife = 10 * time.Minute // until what is shown once is gone, seen or not
	maxOnce  = 1 << 20          // bytes of a page that is shown once; a larger one is the answer to its form
)

// once holds what a page says or shows once, after an act.
type once struct {
	Notice  string        `json:"notice"`
	Amber   bool          `json:"amber,omitempty"`
	List    []string      `json:"list,omitempty"`
	Content template.HTML `json:"content,omitempty"` // in place of that of the page
	Again   bool          `json:"again,omitempty"`   // it is no secret
}

// afterwards answers a form that was done: the browser asks for a page that says so, and loading that page once more
// does nothing again.
func (s *Server) afterwards(w http.ResponseWriter, r *http.Request, p Page, act Act, who admin.Actor,
	result any) error {
	to := r.URL.Path
	if act.To != nil {
		to = act.To(result, to)
	}
	var told *Told
	if act.Tells != nil {
		told = act.Tells(result)
	}
	if act.Result == nil && told == nil {
		return seeOther(w, to, "done", r.PostForm.Get("do"))
	}
	v := s.view(r, p, who)
	v.Data, v.Notice = result, v.T(act.Done)
	if told != nil {
		v.Notice, v.Amber, v.List = v.T(told.Text, told.Args...), told.Amber, told.List
	}
	if act.Result != nil {
		if err := s.fill(r, p, act.Result, v); err != nil {
			return err
		}
	}
	err := s.showOnce(r.Context(), who, to, once{v.Notice, v.Amber, v.List, v.content, act.Again})
	if err == nil {
		return seeOther(w, to, "shown", "once")
	}
	if !errors.Is(err, stash.ErrTooLarge) {
		s.c.Log.WarnContext(r.Context(), "what an act shows could not be kept: its form is answered with it",
			"path", r.URL.Path, "err", err)
	}
	if act.Result == nil {
		return seeOther(w, to, "done", r.PostForm.Get("do"))
	}
	return s.write(w, http.StatusOK, v) // the act is done, and a secret is not lost
}

// placeOfOnce returns where it is kept what an address shows once, to the session that acted.
func placeOfOnce(who admin.Actor, at *url.URL) stash.Place {
	return stash.Place{What: "page", Of: who.Session, At: With(at, "lang", "")}
}

func (s *Server) showOnce(ctx context.Context, who admin.Actor, to string, o once) error {
	if len(o.Content) > maxOnce {
		return stash.ErrTooLarge
	}
	content, err := json.Marshal(o)
	if err != nil {
		return err
	}
	at, err := url.Parse(to)
	if err != nil {
		return err
	}
	life := onceLife
	if o.Again {
		life = formLife
	}
	return s.c.Stash.Put(ctx, placeOfOnce(who, at), content, life)
}

// once shows what an act has left for a page, and reports whether that was all of the page.
func (s *Server) once(w http.ResponseWriter, r *http.Request, v *View) (bool, error) {
	if !r.URL.Query().Has("shown") || r.Method != http.MethodGet {
		return false, nil
	}
	var o once
	place := placeOfOnce(v.Actor, r.URL)
	content, err := s.c.Stash.Get(r.Context(), place)
	if err == nil {
		err = json.Unmarshal(content, &o)
	}
	if err == nil && !o.Again {
		_, err = s.c.Stash.Take(r.Context(), place) // of several requests one gets it
	}
	if errors.Is(err, stash.ErrGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.Notice, v.Amber, v.List, v.content = o.Notice, o.Amber, o.List, o.Content
	if o.Content == "" {
		return false, nil
	}
	return true, s.write(w, http.StatusOK, v)
}

// seeOther leads to an address, with a parameter more in its query.
func seeOther(w http.ResponseWriter, to, name, value string) error {
	at, query, _ := strings.Cut(to, "?")
	if query != "" {
		query += "&"
	}
	w.Header().Set("Location", at+"?"+query+name+"="+url.QueryEscape(value))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// wrongField returns the field of a form that a failure is about, because its text begins with its name; "" if that is
// not known.
func wrongField(msg string, form url.Values) string {
	word, rest, _ := strings.Cut(msg, " ")
	next, _, _ := strings.Cut(rest, " ")
	word, next = strings.Trim(word, `":,`), strings.Trim(next, `":,`)
	names := []string{word, word + "s", word + "_" + next} // brand color: brand_color
	if word == "address" {
		names = append(names, "email")
	}
	for _, name := range names {
		if word != "" && form.Has(name) {
			return name
		}
	}
	return ""
}

// marked says of a field that it is wrong, and by which text, to those who do not see it. No text of a page can hold
// what is looked for: quotes are escaped in texts.
func marked(content template.HTML, field string) template.HTML {
	if field == "" {
		return content
	}
	name := ` name="` + field + `"`
	return template.HTML(strings.ReplaceAll(string(content), name, name+` aria-invalid="true" aria-describedby="problem"`))
}
