package otp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// MailKind is the kind of the emails with a code.
const MailKind = "code"

// promised is the email with a code, as it waits in the outbox.
type promised struct {
	Flow    string    `json:"flow"`
	Address string    `json:"address"`
	User    string    `json:"user,omitempty"` // the ticket's
	Lang    page.Lang `json:"lang"`
	Code    string    `json:"code"`

	Invitation string `json:"invitation,omitempty"` // the ticket's
}

// Send sends a code to the ticket's address, valid in this browser, or returns how long to wait.
// Whether an email is sent is decided in the background.
func (s *Codes) Send(w http.ResponseWriter, r *http.Request, e *Flow, lang page.Lang,
	t storage.Ticket) (wait time.Duration, err error) {
	if err := s.Outbox.Room(r.Context(), MailKind, "", 0); err != nil {
		return 0, emailsFull(err)
	}
	if wait := s.AllowByIP(r); wait > 0 {
		return wait, nil
	}
	requester, err := s.requesterOf(r, t.Subject)
	if err != nil {
		return 0, err
	}
	tries, wait, err := s.countRequest(r, requester, t)
	if wait > 0 || err != nil {
		return wait, err
	}
	t.Tries = Tries - tries
	code, err := s.issue(w, r, e.Kind, requester, t)
	if err != nil {
		return 0, err
	}
	err = s.Outbox.Put(r.Context(), MailKind, "", limits.CodeLife,
		promised{e.Kind, t.Subject, t.UserID, lang, code, t.Invitation})
	return 0, emailsFull(err)
}

func emailsFull(err error) error {
	if errors.Is(err, outbox.ErrFull) {
		return web.EmailsFull
	}
	return err
}

// Write writes the email that was promised, to nobody if the flow sends nothing to its address.
func (s *Codes) Write(ctx context.Context, text json.RawMessage) (m outbox.Message, err error) {
	var p promised
	if err := json.Unmarshal(text, &p); err != nil {
		return m, err
	}
	i := slices.IndexFunc(s.Flows(), func(e *Flow) bool { return e.Kind == p.Flow })
	if i < 0 {
		return m, nil // passwords are not reset here
	}
	e := s.Flows()[i]
	yes, err := e.deliverable(s, ctx, storage.Ticket{Kind: e.Kind, Subject: p.Address, UserID: p.User,
		Invitation: p.Invitation})
	if err != nil || !yes {
		return m, err
	}
	return outbox.Message{To: []string{p.Address}, Subject: p.Lang.T(e.Subject), Text: s.codeText(p.Lang, p.Code)}, nil
}

// countRequest counts the email for its address and, if the client is unknown, for the networks
// around it, and says how many tries its code has; or it returns how long to wait.
func (s *Codes) countRequest(r *http.Request, by string, t storage.Ticket) (tries int, wait time.Duration, err error) {
	if !fromUnknown(by, t) {
		return s.count(r.Context(), t.Subject, by)
	}
	client := network.Of(s.Peer(r))
	if wait := s.Rates.Emails.Take(client); wait > 0 {
		return 0, wait, nil
	}
	if tries, wait, err = s.count(r.Context(), t.Subject, by); wait > 0 || err != nil {
		s.Rates.Emails.Done(client)
	}
	return tries, wait, err
}

func (s *Codes) codeText(lang page.Lang, code string) string {
	return lang.T("Your code is %s", code) + "\n\n" +
		lang.T("It is valid for 10 minutes and works once. Type it in only at %s, on the page where you asked for it, and "+
			"tell it to nobody.", s.Site) + "\n\n" +
		lang.T("If you did not ask for it, somebody may have mistaken your address for theirs. You need do nothing.") + "\n"
}
