package ui

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/formwords"
	"github.com/keystile/keystile/internal/pattern"
)

// received is a form as it came.
type received struct {
	session string       // it was shown in
	body    bytes.Buffer // empty, unless it may have to be kept
}

// receive reads a form of at most so many bytes: the one of the request, or the one that was kept and the request
// names.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, most int64, who admin.Actor) (*received, error) {
	f := &received{session: who.Session}
	if s.c.Forms != nil {
		shown, err := s.c.Forms.KeptForm(w, r)
		if err != nil {
			return nil, err
		}
		if shown != "" {
			f.session = shown
		}
		if who.Fresh() != nil {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, &f.body), r.Body}
		}
	}
	return f, readForm(w, r, most)
}

// askAgain asks the sender of a form to sign in once more. A form that would not be done then is not kept: a page of
// another site could have it done after a sign-in otherwise.
//
// The page says what the form does: somebody else may have sent it from a console that was left open.
func (s *Server) askAgain(w http.ResponseWriter, r *http.Request, p Page, who admin.Actor, f *received) error {
	if s.c.Forms == nil {
		return s.c.SignIn.AskFor(w, r, p.back(r))
	}
	if err := checkFormID(r.PostForm.Get("form"), f.session, r.URL.Path, time.Now()); err != nil {
		if p.Get == nil || who.Proven() != nil {
			return err // there is no page, or it is not for them yet
		}
		return s.refuse(w, r, p, who, err)
	}
	what, fields := s.about(r, p, who)
	return s.c.Forms.KeepForm(w, r, f.session, f.body.Bytes(), what, fields)
}

// inPath finds the names of the values in the path of a page.
var inPath = pattern.Lazy(`{([a-z_]+)}`)

// about says what a form does, in the language of its page: the act, what it is done to, and what was typed.
func (s *Server) about(r *http.Request, p Page, who admin.Actor) (what string, fields [][2]string) {
	v, act := s.view(r, p, who), p.Acts[r.PostForm.Get("do")]
	if what = v.T(act.Says); act.Says == "" {
		what = v.T(p.Title) + ": " + r.PostForm.Get("do")
	}
	name := ""
	if p.Of != nil && who.Proven() == nil {
		var err error
		if name, err = p.Of(r, who); err != nil {
			s.c.Log.WarnContext(r.Context(), "what a form is about has no name", "path", r.URL.Path, "err", err)
		}
	}
	for _, in := range inPath().FindAllStringSubmatch(p.Path, -1) {
		value := r.PathValue(in[1])
		if name != "" {
			value, name = name+" ("+value+")", ""
		}
		fields = append(fields, [2]string{v.T(in[1]), value})
	}
	typed := maps.Clone(r.PostForm)
	for field, kind := range act.Fields {
		if kind == Bool { // a box that is not ticked says something
			typed[field] = []string{map[bool]string{true: v.T("yes"), false: v.T("no")}[typed.Has(field)]}
		}
	}
	if id := r.URL.Query().Get("id"); id != "" {
		typed["id"] = []string{id}
	}
	for _, f := range formwords.Of(typed, func(text string) string { return v.T(text) }) {
		fields = append(fields, [2]string{f.Name, f.Value})
	}
	return what, fields
}
