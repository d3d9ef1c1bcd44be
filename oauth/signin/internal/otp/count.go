package otp

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"slices"
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

// How many emails with a code go to one address (decision 56). Nobody else can use up the number
// of the known browsers of its user.
const (
	Pause      = time.Minute // between two of one requester
	PerHour    = 5           // of one requester
	perAddress = 20          // in an hour, beyond which only a known browser has any sent
	perRepeats = 15          // in an hour, beyond which only a site has one sent that had none: what is left is for newcomers
	clockSkew  = time.Minute // what the clocks of machines may differ by
)

// requesterKnown stands for the known browsers of an address's user. Any other requester is a
// network.
const requesterKnown = "known"

func networkRequester(client netip.Prefix) string {
	if !client.IsValid() {
		return "elsewhere"
	}
	return client.String()
}

// requesterOf returns the requester of an email to an address. It takes as long for an address
// that nobody has.
func (s *Codes) requesterOf(r *http.Request, address string) (string, error) {
	unknown := networkRequester(network.Of(s.Peer(r)))
	if len(session.MarksOf(r)) == 0 && len(session.CookiesOf(r)) == 0 {
		return unknown, nil
	}
	u, err := s.Emails.ByEmail(r.Context(), address)
	if errors.Is(err, storage.ErrNotFound) {
		if _, err = s.Users.User(r.Context(), "nobody"); errors.Is(err, storage.ErrNotFound) {
			err = nil
		}
		u = storage.User{}
	}
	if err != nil {
		return "", err
	}
	if s.Sessions.Familiar(r, u.Sub) && u.Sub != "" {
		return requesterKnown, nil
	}
	return unknown, nil
}

// CountKind is the kind of the tickets that count the emails to an address.
const CountKind = "mailed"

// count counts one more email to an address, or returns how long to wait for it. Known and
// unknown addresses are counted alike, in the store: a restart forgets nothing.
func (s *Codes) count(ctx context.Context, address, requester string) (wait time.Duration, err error) {
	id := handle.Hash(CountKind + ":" + address)
	for {
		t, err := s.Store.Ticket(ctx, id)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return 0, err
		}
		now := time.Now().UTC()
		sent := parseSent(t.State, now)
		if wait := sent.wait(requester, now); wait > 0 {
			return wait, nil
		}
		t.ID, t.Kind, t.State = id, CountKind, append(sent, sentEmail{now, requester}).String()
		t.CreatedAt, t.ExpiresAt = now, now.Add(time.Hour)
		_, err = s.Store.SaveTicket(ctx, t)
		if errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrExists) {
			continue // another request for the same address: look at what it has counted
		}
		return 0, err
	}
}

// sentEmail is one email that was sent.
type sentEmail struct {
	at        time.Time
	requester string // "": written by an older version
}

// sentEmails are the emails to one address, the oldest first. There are never more than the total
// and those of the known browsers.
type sentEmails []sentEmail

// wait returns how long a requester must wait for another one.
func (all sentEmails) wait(requester string, now time.Time) (wait time.Duration) {
	var own sentEmails
	for _, m := range all {
		if m.requester == requester {
			own = append(own, m)
		}
	}
	if n := len(own); n > 0 {
		wait = Pause - now.Sub(own[n-1].at)
	}
	if n := len(own); n >= PerHour {
		wait = max(wait, time.Hour-now.Sub(own[n-PerHour].at))
	}
	most := perAddress
	if all.holds(requester) {
		most = perRepeats
	}
	if n := len(all); n >= most && requester != requesterKnown {
		wait = max(wait, time.Hour-now.Sub(all[n-most].at))
	}
	return max(wait, 0)
}

// holds reports whether the site of a requester has had an email.
func (all sentEmails) holds(requester string) bool {
	site := siteOf(requester)
	return slices.ContainsFunc(all, func(m sentEmail) bool { return siteOf(m.requester) == site })
}

// siteOf returns the site that a requester is in: of IPv6 the /48, since whoever has one has 65,536 networks.
func siteOf(requester string) string {
	client, err := netip.ParsePrefix(requester)
	if err != nil || client.Addr().Is4() {
		return requester
	}
	site, err := client.Addr().Prefix(min(client.Bits(), 48))
	if err != nil {
		return requester
	}
	return site.String()
}

// parseSent reads the emails of the last hour; what is none is left out, and so is one of the
// future: a clock that was ahead has written it, and would keep the address waiting until then.
func parseSent(text string, now time.Time) (all sentEmails) {
	for word := range strings.FieldsSeq(text) {
		number, requester, _ := strings.Cut(word, "@")
		n, _ := strconv.ParseInt(number, 10, 64)
		at := time.Unix(0, n).UTC()
		if ago := now.Sub(at); ago < time.Hour && ago >= -clockSkew {
			all = append(all, sentEmail{at, requester})
		}
	}
	return all
}

// String writes the sendings as sendingsIn reads them.
func (all sentEmails) String() string {
	words := make([]string, len(all))
	for i, m := range all {
		words[i] = strconv.FormatInt(m.at.UnixNano(), 10) + "@" + m.requester
	}
	return strings.Join(words, " ")
}

func waitText(l page.Lang, wait time.Duration) string {
	if wait <= Pause {
		return l.T("A code was asked for a moment ago. Look for it in your mail, also among spam, or ask again in %s seconds.", web.InSeconds(wait))
	}
	return l.T("Too many codes were asked for. Ask again in %s minutes.", strconv.Itoa(int(math.Ceil(wait.Minutes()))))
}

// fromUnknown reports whether an email counts among those of strangers: it was asked for by
// nobody who has signed in, in a browser that the user of its address is not known by.
func fromUnknown(requester string, t storage.Ticket) bool {
	return requester != requesterKnown && t.UserID == ""
}
