package signin

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/storage"
)

// sessions returns what Mina has.
func (rm *fixture) sessions() []storage.Session {
	rm.t.Helper()
	all, err := rm.store.Store.Sessions(rm.t.Context(), rm.mina.Sub)
	must(rm.t, err)
	return all
}

func TestSessionsOfAUserBeyondAHundredEndTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		var cookies []string
		for i := range session.MaxPerUser + 40 {
			cookies = append(cookies, rm.do(guess("mina", password, i)).cookie())
			time.Sleep(time.Second)
		}
		if n := len(rm.sessions()); n != session.MaxPerUser {
			t.Errorf("%d sessions, want %d", n, session.MaxPerUser)
		}
		for i, cookie := range cookies {
			if _, err := rm.Visitor(with(get("/"), cookie)); (err == nil) != (i >= 40) {
				t.Errorf("session %d is live: %v, %v; want the newest 100", i, err == nil, err)
			}
		}
	})
}

func TestSessionsThatBeginAtOnceAreNoMoreThanAHundred(t *testing.T) {
	rm := newFixture(t, nil)
	for i := range session.MaxPerUser - 5 {
		rm.do(guess("mina", password, i))
	}
	mark := rm.remembers(rm.mina.Sub)
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			r := guess("mina", password, 200+i)
			r.AddCookie(&http.Cookie{Name: session.KnownCookie, Value: mark})
			if a := rm.do(r); a.Code != http.StatusSeeOther || a.cookie() == "" {
				t.Errorf("a sign-in among others = %d", a.Code)
			}
		})
	}
	group.Wait()
	if n := len(rm.sessions()); n > session.MaxPerUser || n < session.MaxPerUser/2 {
		t.Errorf("%d sessions, want %d or little less", n, session.MaxPerUser)
	}
}

// An older version has left 400, and their life has been made shorter since.
func TestSessionsOfAnOlderVersionBecomeAHundredAndTheNewOneStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, func(c *Config) { c.SessionMax = time.Hour })
		now := time.Now().UTC()
		for i := range 400 {
			_, err := rm.store.SaveSession(t.Context(), storage.Session{
				ID: handle.Hash(string(rune('a' + i))), UserID: rm.mina.Sub, LoginType: storage.LoginSelf,
				AuthTime:  now.Add(time.Duration(-i) * time.Minute),
				ExpiresAt: now.Add(7 * 24 * time.Hour), EndsAt: now.Add(30 * 24 * time.Hour),
			})
			must(t, err)
		}
		for i := range 7 {
			a := rm.do(guess("mina", password, i))
			if _, err := rm.Visitor(with(get("/"), a.cookie())); err != nil {
				t.Fatalf("sign-in %d is of no use: %v", i+1, err)
			}
		}
		if n := len(rm.sessions()); n != session.MaxPerUser {
			t.Errorf("%d sessions, want %d", n, session.MaxPerUser)
		}
	})
}

func TestEndOfTheOldestSessionIsWrittenDownAndAlarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written, mails := &fakeAudit{}, &fakeMailer{}
		rm := newFixture(t, func(c *Config) { c.Audit, c.Mailer = written, mails })
		mark := rm.remembers(rm.mina.Sub)
		for i := range session.MaxPerUser + 1 {
			r := guess("mina", password, i)
			r.AddCookie(&http.Cookie{Name: session.KnownCookie, Value: mark})
			rm.do(r)
			time.Sleep(time.Second)
		}
		must(t, rm.Close(t.Context()))
		if len(mails.sent) > 0 {
			t.Errorf("%d mails were sent, want none: %s", len(mails.sent), mails.sent[0].text)
		}
		if n := strings.Count(strings.Join(written.notes, "\n"), "session ended: the oldest of more than 100"); n != 1 {
			t.Errorf("%d records of it, want 1: %q", n, written.notes)
		}
	})
}

// The phone is the oldest of them, and each of them would end with it.
func TestPhoneSignsInMoreThanAHundredScreensAndStaysSignedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		phone := rm.enterMina()
		var screens []string
		for range session.MaxPerUser + 20 {
			time.Sleep(2 * time.Second)
			_, a := rm.scans(phone)
			if !rm.in(a.cookie()) {
				t.Fatalf("screen %d is not signed in: collecting = %d", len(screens)+1, a.Code)
			}
			screens = append(screens, a.cookie())
		}
		if n := len(rm.sessions()); n != session.MaxPerUser {
			t.Errorf("%d sessions, want %d", n, session.MaxPerUser)
		}
		for i, cookie := range screens {
			if want := i >= len(screens)-session.MaxPerUser+1; rm.in(cookie) != want {
				t.Errorf("screen %d is signed in: %v, want the newest 99", i+1, !want)
			}
		}
		if !rm.in(phone) {
			t.Error("the phone is signed out")
		}
	})
}

// The first session has confirmed the second, and that one all others.
func TestSessionThatOthersComeFromOnlyThroughAThirdStaysToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rm := newFixture(t, nil)
		first := rm.enterMina()
		_, a := rm.scans(first)
		for i := range session.MaxPerUser + 5 {
			time.Sleep(2 * time.Second)
			if _, next := rm.scans(a.cookie()); !rm.in(next.cookie()) {
				t.Fatalf("screen %d is not signed in: collecting = %d", i+1, next.Code)
			}
		}
		if !rm.in(first) || !rm.in(a.cookie()) {
			t.Error("a session that others come from has ended")
		}
	})
}
