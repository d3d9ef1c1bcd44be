package ui

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/consoleauth"
)

// received is a form as it came.
type received struct {
	session string       // it was shown in
	body    bytes.Buffer // empty, unless it may have to be kept
}

// receive reads a form of at most so many bytes: the one of the request, or the one that was kept and the request
// names.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, most int64, who consoleauth.Actor) (*received, error) {
	f := &received{session: who.Session}
	if keeper, ok := s.c.SignIn.(Keeper); ok {
		shown, err := keeper.KeptForm(w, r)
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

// askAgain asks who sent a form to confirm that it is they. A form that would not be done then is not kept: a page of
// another site could have it done after a sign-in otherwise.
func (s *Server) askAgain(w http.ResponseWriter, r *http.Request, p Page, who consoleauth.Actor, f *received) error {
	keeper, ok := s.c.SignIn.(Keeper)
	if !ok {
		return s.c.SignIn.AskFor(w, r, p.back(r))
	}
	if err := checkFormID(r.PostForm.Get("form"), f.session, r.URL.Path, time.Now()); err != nil {
		if p.Get == nil || who.Proven() != nil {
			return err // there is no page, or it is not for them yet
		}
		return s.refuse(w, r, p, who, err)
	}
	return keeper.KeepForm(w, r, f.session, f.body.Bytes())
}
