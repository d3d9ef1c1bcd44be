package outgoing

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/internal/test/webhooktest"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// posted holds what an application or an operator was sent.
type posted struct {
	at     time.Time
	url    string
	header http.Header
	body   string
}

// claims reads a logout token.
func (p posted) claims(t *testing.T) (c struct {
	Iat, Exp int64
	Jti, Sub string
}) {
	t.Helper()
	form, _ := url.ParseQuery(p.body)
	parts := strings.Split(form.Get("logout_token"), ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no logout", p.body)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fixture is a store, those who are told, and the audit trail.
type fixture struct {
	*testing.T
	store *storage.Store
	app   storage.App

	mu     sync.Mutex
	posts  []posted
	notes  []event.Event
	answer func(r *http.Request) (int, error) // nil: 200
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	h := &fixture{T: t, store: store}
	h.must(err)
	h.app, err = store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"},
		BackchannelLogoutURI: "https://app.example.com/out"})
	h.must(err)
	return h
}

func (h *fixture) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.posts = append(h.posts, posted{time.Now(), r.URL.String(), r.Header, string(body)})
	answer := h.answer
	h.mu.Unlock()
	status := http.StatusOK
	if answer != nil {
		var err error
		if status, err = answer(r); err != nil {
			return nil, err
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// start sends until the returned function is called.
func (h *fixture) start() (stop func()) {
	h.Helper()
	s, err := New(Config{
		Store: h.store, Issuer: "https://id.example.com", Client: &http.Client{Transport: h},
		Log: slog.New(slog.DiscardHandler),
		Sign: func(_ context.Context, app storage.App, typ string, payload []byte) (string, error) {
			return token.SignHS256(app.AppKey(), typ, payload), nil
		},
		Note: func(e event.Event) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.notes = append(h.notes, e)
		},
	})
	h.must(err)
	return func() { h.must(s.Close(context.Background())) }
}

func (h *fixture) got() []posted {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.posts)
}

// signOut signs a user out everywhere who has met the application.
func (h *fixture) signOut(sub string) {
	h.Helper()
	_, err := h.store.EnsureOpenID(context.Background(), h.app.ID, sub)
	h.must(err)
	_, err = logout.Revoke(context.Background(), h.store, driver.Revocation{Kind: driver.RevokeUser, ID: sub,
		Before: time.Now()})
	h.must(err)
}

func (h *fixture) queued() []storage.Delivery {
	h.Helper()
	all, err := h.store.Deliveries(context.Background(), notify.App(h.app.ID))
	h.must(err)
	return all
}

func always(status int) func(*http.Request) (int, error) {
	return func(*http.Request) (int, error) { return status, nil }
}

func TestLogoutIsTriedAgainForThreeHoursAndIsFreshEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.answer = always(http.StatusServiceUnavailable)
		defer h.start()()
		began := time.Now()
		h.signOut("u1")
		time.Sleep(24 * time.Hour)
		all, ids := h.got(), map[string]bool{}
		for _, p := range all {
			c := p.claims(t)
			ids[c.Jti] = true
			if c.Iat != p.at.Unix() || c.Exp != p.at.Add(2*time.Minute).Unix() {
				t.Errorf("after %v it is of %d until %d", p.at.Sub(began), c.Iat, c.Exp)
			}
		}
		if len(all) != 6 || len(ids) != 6 || all[5].at.Sub(began) > storage.LogoutLife {
			t.Errorf("%d attempts with %d ids, the last after %v, want 6 within %v", len(all), len(ids),
				all[len(all)-1].at.Sub(began), storage.LogoutLife)
		}
		if q := h.queued(); len(q) != 1 || q[0].Waiting() || q[0].LastStatus != 503 {
			t.Errorf("in the store is %+v, want it given up", q)
		}
	})
}

func TestLogoutThatAnApplicationRefusesIsDroppedAndHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		h.answer = always(http.StatusBadRequest)
		defer h.start()()
		h.signOut("u1")
		h.got()
		h.answer = nil
		h.signOut("u2")
		time.Sleep(time.Second)
		all := h.got()
		if len(all) != 2 || all[1].claims(t).Sub != "u2" {
			t.Errorf("it was sent %d, want one of each user", len(all))
		}
		if q := h.queued(); len(q) != 1 || q[0].Waiting() {
			t.Errorf("in the store is %+v, want the one that was refused", q)
		}
	})
}

func TestApplicationThatHangsIsLeftAfterFiveSecondsAndOthersDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		slow := h.app
		var err error
		h.app, err = h.store.SaveApp(t.Context(), storage.App{Name: "Other", Domains: []string{"other.example.com"},
			BackchannelLogoutURI: "https://other.example.com/out"})
		h.must(err)
		h.answer = func(r *http.Request) (int, error) {
			if r.URL.Host == "other.example.com" {
				return http.StatusOK, nil
			}
			<-r.Context().Done()
			return 0, r.Context().Err()
		}
		defer h.start()()
		h.app, slow = slow, h.app
		h.signOut("u1")
		h.app, slow = slow, h.app
		h.signOut("u2")
		if all := h.got(); len(all) != 2 {
			t.Errorf("%d were asked at once, want both", len(all))
		}
		time.Sleep(timeout + time.Second)
		h.app = slow
		if q := h.queued(); len(q) != 1 || q[0].LastError != "no answer in time" {
			t.Errorf("the one that hangs: %+v", q)
		}
	})
}

func TestApplicationIsSentFiveLogoutsASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		defer h.start()()
		began := time.Now()
		for i := range 50 {
			h.signOut(fmt.Sprint("u", i))
		}
		time.Sleep(time.Minute)
		all := h.got()
		if len(all) != 50 {
			t.Fatalf("%d arrived, want 50", len(all))
		}
		for i := 5; i < len(all); i++ {
			if d := all[i].at.Sub(all[i-5].at); d < time.Second {
				t.Fatalf("six within %v", d)
			}
		}
		if last := all[49].at.Sub(began); last > 11*time.Second {
			t.Errorf("the last came after %v", last)
		}
	})
}

func TestLogoutGoesToWhereTheApplicationIsNow(t *testing.T) {
	for what, change := range map[string]func(*storage.App){
		"https://app.example.com/new": func(a *storage.App) { a.BackchannelLogoutURI = "https://app.example.com/new" },
		"":                            func(a *storage.App) { a.BackchannelLogoutURI = "" },
		"nowhere, as it is disabled":  func(a *storage.App) { a.Disabled = true },
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t)
			h.signOut("u1")
			change(&h.app)
			var err error
			h.app, err = h.store.SaveApp(t.Context(), h.app)
			h.must(err)
			defer h.start()()
			all := h.got()
			time.Sleep(time.Second)
			if n := len(h.queued()); n != 0 {
				t.Errorf("%q: %d wait, want none", what, n)
			}
			if strings.HasPrefix(what, "https:") != (len(all) == 1) || len(all) == 1 && all[0].url != what {
				t.Errorf("%q: it went to %+v", what, all)
			}
		})
	}
}

func TestQueueThatIsFullNotesWhatItDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		for i := range storage.MaxTold + 2 {
			h.signOut(fmt.Sprint("u", i))
		}
		stop := h.start()
		time.Sleep(time.Hour)
		h.got()
		stop()
		details := ""
		for _, e := range h.notes {
			if e.App != h.app.ID {
				t.Errorf("it is noted of %q", e.App)
			}
			details += e.Detail + "\n"
		}
		if one := "1 logouts were dropped: the application's queue was full\n"; details != one+one {
			t.Errorf("noted is %q, want two drops", details)
		}
	})
}

func TestUserEventsAreSignedAsWebhooksAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		_, err := h.store.SetUserWebhook(t.Context(), "https://hook.example/old", false)
		h.must(err)
		u, err := h.store.CreateUser(t.Context(), storage.User{Username: "ada"},
			storage.Login{Method: storage.LoginSelf, Subject: "ada"})
		h.must(err)
		secret, err := h.store.SetUserWebhook(t.Context(), "https://hook.example/users", true)
		h.must(err)
		defer h.start()()
		all := h.got()
		if len(all) != 1 || all[0].url != "https://hook.example/users" {
			t.Fatalf("sent was %+v, want the event to the address of now", all)
		}
		if err := webhooktest.Verify(secret.Reveal(), all[0].header, []byte(all[0].body)); err != nil {
			t.Errorf("Verify() = %v", err)
		}
		want := fmt.Sprintf(`{"type":"user.created","timestamp":"%s","data":{"sub":"%s","methods":["self"]}}`, time.Now().UTC().Format(time.RFC3339Nano), u.Sub)
		if all[0].body != want {
			t.Errorf("it says %s, want %s", all[0].body, want)
		}
	})
}

func TestLogoutMessagesAreGivenUpWithoutAURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		_, err := h.store.SetUserWebhook(t.Context(), "https://hook.example/users", false)
		h.must(err)
		_, err = h.store.CreateUser(t.Context(), storage.User{Username: "ada"})
		h.must(err)
		_, err = h.store.SetUserWebhook(t.Context(), "", false)
		h.must(err)
		defer h.start()()
		if all := h.got(); len(all) != 0 {
			t.Errorf("sent was %+v, want nothing", all)
		}
		if all, err := h.store.Deliveries(t.Context(), notify.Users); err != nil || len(all) != 0 {
			t.Errorf("%d wait, %v, want none", len(all), err)
		}
	})
}

// A name of an owner's could lead anywhere, and the list of private addresses is none of theirs.
func TestListOfPrivateAddressesIsForWhatAnOperatorHasSet(t *testing.T) {
	c := Config{Client: new(http.Client), Logouts: new(http.Client), Public: new(http.Client)}
	for _, v := range []struct {
		uri, operator string
		listed        bool
	}{
		{"https://app.example.com/out", "", false},
		{"https://app.example.com/out", "https://app.example.com/out", true},
		{"https://app.example.com/other", "https://app.example.com/out", false},
		{"https://app.example.com:8443/out", "https://app.example.com/out", false},
		{"http://127.0.0.1:8080/out", "", true}, // as an older version has stored it: the list decides
		{"https://intranet.internal/out", "", true},
		{"https://intranet/out", "", true},
	} {
		want := map[bool]*http.Client{true: c.Logouts, false: c.Public}[v.listed]
		if got := c.clientFor(storage.App{BackchannelLogoutURI: v.uri, OperatorLogoutURI: v.operator}); got != want {
			t.Errorf("%s, of which an operator has set %q, goes by the list: %t, want %t", v.uri, v.operator, got == c.Logouts,
				v.listed)
		}
	}
}
