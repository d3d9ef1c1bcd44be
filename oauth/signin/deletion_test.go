package signin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/deletion"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func (d *accountFixture) deletes(cookie, typed string) answer {
	d.t.Helper()
	return d.do(sends(deletion.Path, "cookie", cookie, "confirm", typed))
}

func (d *accountFixture) isThere(sub string) bool {
	d.t.Helper()
	u, err := d.store.Store.User(context.Background(), sub)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		d.t.Fatal(err)
	}
	return err == nil && !u.Disabled
}

func TestAccountIsDeletedByItsOwnerWithAllThatIsTheirs(t *testing.T) {
	audit := &fakeAudit{}
	d := newAccountFixture(t, func(c *Config) { c.Audit = audit })
	here, there := d.enterMina(), d.enterMina()
	d.consent(d.mina.Sub)
	ada, _ := d.ada()
	if body := d.page(here); !strings.Contains(body, `href="`+deletion.Path+`"`) {
		t.Error("the account page has no link to it")
	}
	if body := d.do(get(deletion.Path, here)).body; !strings.Contains(body, "What stays") ||
		!strings.Contains(body, "Type your username: Mina") {
		t.Errorf("the page says %s", body)
	}
	a := d.deletes(here, " Mina ")
	if a.Code != 200 || !strings.Contains(a.body, "Your account is deleted") ||
		!strings.Contains(a.Header().Get("Set-Cookie"), "Max-Age=0") {
		t.Fatalf("%d %v %s", a.Code, a.Header(), a.body)
	}
	ctx := t.Context()
	logins, err := d.store.Logins(ctx, d.mina.Sub)
	must(t, err)
	given, err := d.store.Consents(ctx, d.mina.Sub)
	must(t, err)
	met, err := d.store.OpenIDs(ctx, d.mina.Sub)
	must(t, err)
	if d.isThere(d.mina.Sub) || d.visits(here) == nil || d.visits(there) == nil || len(logins)+len(given)+len(met) != 0 ||
		!d.isThere(ada.Sub) {
		t.Errorf("there %v, sessions %v %v, left %v %v %v", d.isThere(d.mina.Sub), d.visits(here), d.visits(there), logins,
			given, met)
	}
	if len(d.revoked) == 0 || d.revoked[0].Kind != driver.RevokeUser || d.revoked[0].ID != d.mina.Sub {
		t.Errorf("revoked %+v", d.revoked)
	}
	said := strings.Join(audit.notes, "\n")
	if begun, done := strings.Index(said, "is to be deleted by its owner"),
		strings.Index(said, "account deleted by its owner: user -> disabled, and removed"); begun < 0 || done < begun ||
		strings.Contains(said, "Mina") {
		t.Errorf("the trail says %s", said)
	}
	if _, err := users.New(d.store, cheap(d.hashes)).Create(ctx, storage.User{Username: "Mina"}, password); err != nil {
		t.Errorf("the name is not free: %v", err)
	}
}

func TestDeletionOfAnAccountNeedsConfirmation(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	ada, theirs := d.ada()
	for _, typed := range []string{"", "mina", "Mina!", "ada", d.mina.Sub, "Mi\u200bna", strings.Repeat("Mina", 1000)} {
		if a := d.deletes(here, typed); a.Code != 400 || !strings.Contains(a.body, `aria-invalid="true"`) {
			t.Errorf("typing %q = %d", typed, a.Code)
		}
	}
	for name, r := range map[string]*http.Request{
		"a field twice": sends(deletion.Path, "cookie", here, "confirm", "Mina", "confirm", "Mina"),
		"a megabyte":    sends(deletion.Path, "cookie", here, "confirm", strings.Repeat("a", 1<<20)),
		"not text":      sends(deletion.Path, "cookie", here, "confirm", "\xff"),
	} {
		if a := d.do(r); a.Code < 400 || a.Code >= 500 {
			t.Errorf("%s = %d", name, a.Code)
		}
	}
	cross := sends(deletion.Path, "cookie", here, "confirm", "Mina")
	cross.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := d.do(cross); a.Code != 403 {
		t.Errorf("another site: %d", a.Code)
	}
	if a := d.do(sends(deletion.Path, "confirm", "Mina")); a.Code != 303 {
		t.Errorf("a stranger: %d", a.Code)
	}
	if a := d.do(sends(deletion.Path, "cookie", theirs, "confirm", "Mina", "sub", d.mina.Sub, "user",
		d.mina.Sub)); a.Code != 400 {
		t.Errorf("somebody else: %d", a.Code)
	}
	d.aged(here, stepup.MaxAge+time.Second)
	if a := d.deletes(here, "Mina"); !strings.Contains(a.body, "What you typed is kept") {
		t.Errorf("an old sign-in: %d %s", a.Code, a.body)
	}
	if !d.isThere(d.mina.Sub) || !d.isThere(ada.Sub) || d.revoked != nil || d.visits(here) != nil {
		t.Error("something is gone")
	}
}

func TestOwnerAndTheLastAdministratorStay(t *testing.T) {
	d := newAccountFixture(t)
	here := d.enterMina()
	for _, id := range []string{"ks1", "ks2"} {
		_, err := d.store.SaveApp(t.Context(), storage.App{ID: id, Name: id, Domains: []string{"own.example.com"},
			Owner: d.mina.Sub})
		must(t, err)
	}
	if body := d.do(get(deletion.Path, here)).body; !strings.Contains(body, "You own 2 applications and 0 capabilities.") || strings.Contains(body, `name="confirm"`) {
		t.Errorf("the page says %s", body)
	}
	if a := d.deletes(here, "Mina"); a.Code != 409 || !strings.Contains(a.body, "You own 2 applications") ||
		!d.isThere(d.mina.Sub) || d.visits(here) != nil {
		t.Errorf("an owner: %d %s", a.Code, a.body)
	}
	ada, theirs := d.ada()
	u, err := d.store.User(t.Context(), ada.Sub)
	must(t, err)
	u.Role = storage.RoleAdmin
	_, err = d.store.SaveUser(t.Context(), u)
	must(t, err)
	if a := d.deletes(theirs, "ada"); a.Code != 409 || !strings.Contains(a.body, "You are the last administrator here.") ||
		!d.isThere(ada.Sub) || d.visits(theirs) != nil {
		t.Errorf("the last administrator: %d %s", a.Code, a.body)
	}
}

func TestOperatorSaysWhoDeletesAnAccount(t *testing.T) {
	audit := &fakeAudit{}
	d := newAccountFixture(t,
		func(c *Config) { c.DeleteAccount, c.Contact, c.Audit = DeleteAsk, "help@example.com", audit })
	here := d.enterMina()
	if a := d.deletes(here, "wrong"); a.Code != 400 {
		t.Errorf("a wrong name: %d", a.Code)
	}
	a := d.deletes(here, "Mina")
	if a.Code != 200 || !strings.Contains(a.body, `href="mailto:help@example.com"`) || !d.isThere(d.mina.Sub) || d.visits(here) != nil || !slices.Contains(audit.notes, "account  asks for the account to be deleted") {
		t.Errorf("asking: %d, trail %q: %s", a.Code, audit.notes, a.body)
	}
	for name, edit := range map[string]func(*Config){
		"off": func(c *Config) { c.DeleteAccount = DeleteOff }, "without a revoker": func(c *Config) { c.Revoker = nil },
	} {
		d := newAccountFixture(t, edit)
		here := d.enterMina()
		if strings.Contains(d.page(here), deletion.Path) || d.deletes(here, "Mina").Code != 404 || !d.isThere(d.mina.Sub) {
			t.Errorf("%s: it is offered", name)
		}
	}
	if _, err := New(t.Context(), Config{BaseURL: origin, Store: d.store, DeleteAccount: "never",
		Contact: "a\nb"}); err == nil || !strings.Contains(err.Error(), "DeleteAccount") ||
		!strings.Contains(err.Error(), "Contact") {
		t.Errorf("a wrong Config is %v", err)
	}
}

// own is a host's own table of users, in a store of its own.
type own struct {
	*users.StoreUsers
	erased []string
	there  func() bool
}

func (o *own) EraseUser(_ context.Context, sub string) error {
	if o.there() {
		return errors.New("they are still signed in")
	}
	o.erased = append(o.erased, sub)
	return nil
}

func (o *own) User(ctx context.Context, sub string) (storage.User, error) {
	if slices.Contains(o.erased, sub) {
		return storage.User{}, storage.ErrNotFound
	}
	return o.StoreUsers.User(ctx, sub)
}

// mere is a table that can do nothing but what every one can.
type mere struct{ users.Users }

func TestUserOfAHostsOwnIsDeletedByTheHost(t *testing.T) {
	d := newAccountFixture(t, func(c *Config) { c.Users = hostOf(mere{users.New(c.Store, c.Passwords)}) })
	if strings.Contains(d.page(d.enterMina()), deletion.Path) {
		t.Error("it is offered though the host cannot")
	}
	elsewhere, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	must(t, err)
	table := &own{StoreUsers: users.New(elsewhere, cheap(new(atomic.Int64)))}
	lea, err := table.Create(t.Context(), storage.User{Username: "lea"}, password)
	must(t, err)
	d = newAccountFixture(t, func(c *Config) { c.Users = hostOf(table) })
	here := d.do(post("username", "lea", "password", password)).cookie()
	d.consent(lea.Sub)
	table.there = func() bool { return d.visits(here) == nil }
	a := d.deletes(here, "lea")
	given, err := d.store.Consents(t.Context(), lea.Sub)
	must(t, err)
	if a.Code != 200 || !slices.Equal(table.erased, []string{lea.Sub}) || len(given) != 0 || len(d.revoked) != 1 {
		t.Errorf("%d, the host removed %q, consents %v, revoked %v", a.Code, table.erased, given, d.revoked)
	}
}

// breaking is a Store that fails to erase so many times.
type breaking struct {
	*flaky
	fails atomic.Int64
}

func (b *breaking) EraseUser(ctx context.Context, sub string, looks func(string) []string) error {
	if b.fails.Add(-1) >= 0 {
		return errDown
	}
	return b.Store.EraseUser(ctx, sub, looks)
}

func TestDeletionThatBreaksOffIsTriedAgainAndElseLeftToTheOperator(t *testing.T) {
	for fails, whole := range map[int64]bool{2: true, 3: false} {
		audit, store := &fakeAudit{}, &breaking{}
		d := newAccountFixture(t, func(c *Config) {
			store.flaky = c.Store.(*flaky)
			c.Store, c.Audit = store, audit
		})
		store.fails.Store(fails)
		here := d.enterMina()
		a := d.deletes(here, "Mina")
		if done := strings.Count(strings.Join(audit.notes, "\n"), "account deleted by its owner"); done != 1 ||
			d.isThere(d.mina.Sub) || d.visits(here) == nil {
			t.Errorf("%d failures: told %d times, there %v", fails, done, d.isThere(d.mina.Sub))
		}
		if whole && a.Code != 200 || !whole &&
			(a.Code != 503 || !strings.Contains(a.body, "the operator of this service finishes it") ||
				!strings.Contains(d.log.String(), d.mina.Sub)) {
			t.Errorf("%d failures: %d %s", fails, a.Code, a.body)
		}
		if in := d.do(post("username", "mina", "password", password)); in.Code != 401 {
			t.Errorf("%d failures: signing in = %d", fails, in.Code)
		}
	}
}

func TestDeletionIsRefusedWithoutTheTrail(t *testing.T) {
	audit := &fakeAudit{}
	d := newAccountFixture(t, func(c *Config) { c.Audit = audit })
	here := d.enterMina()
	audit.err = errDown
	if a := d.deletes(here, "Mina"); a.Code != 503 || !d.isThere(d.mina.Sub) || d.visits(here) != nil || d.revoked != nil {
		t.Errorf("%d, there %v", a.Code, d.isThere(d.mina.Sub))
	}
}

// locked is a Revoker that many may use.
type locked struct {
	mu sync.Mutex
	*accountFixture
}

func (l *locked) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accountFixture.Revoke(ctx, rs...)
}

func TestDeletionRequestedManyTimesAtOnceIsOne(t *testing.T) {
	d := newAccountFixture(t, func(c *Config) { c.Revoker = &locked{accountFixture: c.Revoker.(*accountFixture)} })
	here := d.enterMina()
	codes := make([]int, 8)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() { codes[i] = d.do(sends(deletion.Path, "cookie", here, "confirm", "Mina")).Code })
	}
	all.Wait()
	if d.isThere(d.mina.Sub) || !slices.Contains(codes, 200) ||
		slices.ContainsFunc(codes, func(code int) bool { return code >= 500 }) {
		t.Errorf("answers %v, there %v", codes, d.isThere(d.mina.Sub))
	}
}

func TestDeletionIsToldToTheAddressThatWas(t *testing.T) {
	for _, confirmed := range []bool{true, false} {
		inTime(t, "", func(t *testing.T, h *fullFixture) {
			if confirmed {
				h.confirmed(t)
			} else {
				u, err := h.store.User(t.Context(), h.mina.Sub)
				must(t, err)
				u.Email = minas
				_, err = h.store.SaveUser(t.Context(), u)
				must(t, err)
			}
			b := h.browser()
			b.post(web.FormPath, "username", "mina", "password", password)
			sent := len(h.mails())
			if a := b.post(deletion.Path, "confirm", "Mina"); a.Code != 200 {
				t.Fatalf("%d %s", a.Code, a.body)
			}
			all := h.mails()[sent:]
			if !confirmed {
				if len(all) != 0 {
					t.Errorf("an address that is not confirmed was sent %+v", all)
				}
				return
			}
			if len(all) != 1 || all[0].to != minas || all[0].subject != "Your account at id.example.com is deleted" ||
				!strings.Contains(all[0].text, "tell the operator at once") ||
				strings.Contains(all[0].text, "sign out everywhere") {
				t.Errorf("the mails are %+v", all)
			}
		})
	}
}
