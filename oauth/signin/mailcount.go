package signin

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/handle"
)

// How many mails with a code go to one address (entry 56 of the decisions). Whoever asks for
// more must wait, and nobody can keep the person of the address waiting in a browser that they
// have signed in with.
const (
	mailPause = time.Minute // between two that one asker asks for
	mailHour  = 5           // in an hour, that one asker asks for
	mailTotal = 20          // in an hour, beyond which only a known browser has any sent
	mailSkew  = time.Minute // what the clocks of machines may differ by
)

// An asker is who has a mail sent to an address: the known browsers of its user together,
// or a network.
const askerKnown = "known"

func networkAsker(client netip.Prefix) string {
	if !client.IsValid() {
		return "elsewhere"
	}
	return client.String()
}

// askerOf says who asks for a mail to an address. It takes as long for an address that nobody has.
func (s *emailCodes) askerOf(r *http.Request, address string) (string, error) {
	stranger := networkAsker(network.Of(s.Peer(r)))
	if len(session.MarksOf(r)) == 0 && len(session.CookiesOf(r)) == 0 {
		return stranger, nil
	}
	u, err := s.emails.ByEmail(r.Context(), address)
	if errors.Is(err, storage.ErrNotFound) {
		if _, err = s.users.User(r.Context(), "nobody"); errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		u = storage.User{}
	}
	if err != nil {
		return "", err
	}
	if s.Sessions.Familiar(r, u.Sub) && u.Sub != "" {
		return askerKnown, nil
	}
	return stranger, nil
}

// kindMailed is the kind of the tickets that count the mails to an address.
const kindMailed = "mailed"

// mayMail counts one more mail to an address, or says how long to wait for it. Known and
// unknown addresses are counted alike, in the store: a restart forgets nothing.
func (s *emailCodes) mayMail(ctx context.Context, address, asker string) (wait time.Duration, err error) {
	id := handle.Hash(kindMailed + ":" + address)
	for {
		t, err := s.store.Ticket(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return 0, err
		}
		now := time.Now().UTC()
		sent := mailsIn(t.State, now)
		if wait := sent.wait(asker, now); wait > 0 {
			return wait, nil
		}
		t.ID, t.Kind, t.State = id, kindMailed, append(sent, mailing{now, asker}).String()
		t.CreatedAt, t.ExpiresAt = now, now.Add(time.Hour)
		_, err = s.store.SaveTicket(ctx, t)
		if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrExists) {
			continue // another request for the same address: look at what it has counted
		}
		return 0, err
	}
}

// mailing is one mail that was sent.
type mailing struct {
	at    time.Time
	asker string // "": an older version did not write it down
}

// mailings are the mails to one address, the oldest first. There are never more than the total
// and those of the known browsers.
type mailings []mailing

// wait says how long an asker must wait for another one.
func (all mailings) wait(asker string, now time.Time) (wait time.Duration) {
	var own mailings
	for _, m := range all {
		if m.asker == asker {
			own = append(own, m)
		}
	}
	if n := len(own); n > 0 {
		wait = mailPause - now.Sub(own[n-1].at)
	}
	if n := len(own); n >= mailHour {
		wait = max(wait, time.Hour-now.Sub(own[n-mailHour].at))
	}
	if n := len(all); n >= mailTotal && asker != askerKnown {
		wait = max(wait, time.Hour-now.Sub(all[n-mailTotal].at))
	}
	return max(wait, 0)
}

// mailsIn reads the mails of the last hour; what is none is left out, and so is one of the
// future: a clock that was ahead has written it, and would keep the address waiting until then.
func mailsIn(text string, now time.Time) (all mailings) {
	for word := range strings.FieldsSeq(text) {
		number, asker, _ := strings.Cut(word, "@")
		n, _ := strconv.ParseInt(number, 10, 64)
		at := time.Unix(0, n).UTC()
		if ago := now.Sub(at); ago < time.Hour && ago >= -mailSkew {
			all = append(all, mailing{at, asker})
		}
	}
	return all
}

func (all mailings) String() string {
	words := make([]string, len(all))
	for i, m := range all {
		words[i] = strconv.FormatInt(m.at.UnixNano(), 10) + "@" + m.asker
	}
	return strings.Join(words, " ")
}

func mailWaitText(l page.Lang, wait time.Duration) string {
	if wait <= mailPause {
		return l.T("A code was asked for a moment ago. Look for it in your mail, also among spam, or ask again in %s seconds.", web.InSeconds(wait))
	}
	return l.T("Too many codes were asked for. Ask again in %s minutes.", strconv.Itoa(int(math.Ceil(wait.Minutes()))))
}

// isStrangers reports whether a mail counts among those of strangers: it was asked for by
// nobody who has signed in, in a browser that the user of its address is not known by.
func isStrangers(asker string, t storage.Ticket) bool { return asker != askerKnown && t.UserID == "" }
