package otp

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Send sends the ticket's address a code that this browser may type in, or says how long
// to wait. Whether there is an email is decided beside the request.
func (s *Codes) Send(w http.ResponseWriter, r *http.Request, e *Flow, lang page.Lang, t storage.Ticket) (wait time.Duration, err error) {
	if !s.Outbox.Reserve() {
		return 0, web.EmailsFull
	}
	put := false
	defer func() {
		if !put {
			s.Outbox.Release()
		}
	}()
	if wait := s.AllowByIP(r); wait > 0 {
		return wait, nil
	}
	requester, err := s.requesterOf(r, t.Subject)
	if err != nil {
		return 0, err
	}
	if wait, err := s.countRequest(r, requester, t); wait > 0 || err != nil {
		return wait, err
	}
	code, err := s.issue(w, r, e.Kind, requester, t)
	if err != nil {
		return 0, err
	}
	put = true
	s.Outbox.Put(func(ctx context.Context) error {
		yes, err := e.deliverable(s, ctx, t)
		if err != nil || !yes {
			return err
		}
		return s.Mailer.Send(ctx, t.Subject, lang.T(e.Subject), s.codeText(lang, code))
	})
	return 0, nil
}

// countRequest counts the email for its address and, if a stranger asks for it, for the networks
// around them; or it says how long to wait.
func (s *Codes) countRequest(r *http.Request, requester string, t storage.Ticket) (wait time.Duration, err error) {
	if !fromUnknown(requester, t) {
		return s.count(r.Context(), t.Subject, requester)
	}
	client := network.Of(s.Peer(r))
	if wait := s.Rates.Emails.Take(client); wait > 0 {
		return wait, nil
	}
	if wait, err = s.count(r.Context(), t.Subject, requester); wait > 0 || err != nil {
		s.Rates.Emails.Done(client)
	}
	return wait, err
}

func (s *Codes) codeText(lang page.Lang, code string) string {
	return lang.T("Your code is %s", code) + "\n\n" +
		lang.T("It is valid for 10 minutes and works once. Type it in only at %s, on the page where you asked for it, and tell it to nobody.", s.Site) + "\n\n" +
		lang.T("If you did not ask for it, somebody may have mistaken your address for theirs. You need do nothing.") + "\n"
}
