package users

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/confusable"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/postgres"
	"github.com/keystile/keystile/storage/transfer"
)

// adapters are the stores that erasing is tried on.
var adapters = map[string]func(t *testing.T) driver.Backend{
	"memory": func(*testing.T) driver.Backend { return memory.New() },
	"bolt": func(t *testing.T) driver.Backend {
		b, err := bolt.Open(filepath.Join(t.TempDir(), "keystile.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return b
	},
	"postgres": func(t *testing.T) driver.Backend {
		if os.Getenv(database.Direct) == "" {
			t.Skip(database.Direct + " is not set")
		}
		b, err := postgres.Open(t.Context(), database.WithSchema(t), postgres.Options{PollOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return b
	},
}

func openOn(t *testing.T, b driver.Backend) *storage.Store {
	t.Helper()
	store, err := storage.Open(t.Context(), b, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return store
}

const name = "Zanzibar"

// texts are those of the user that must be nowhere. They are long: what is sealed looks like letters drawn at random.
var texts = []string{"zanzibar", "quokka.example", "Zazazibaribar", "wombat-of-the-hills"}

func login(method, subject string) storage.Login {
	return storage.Login{Method: method, Subject: subject, PasswordHash: "hash of wombat-of-the-hills"}
}

// person makes a user with everything that there is of one, so many of each.
func person(t *testing.T, store *storage.Store, n int) storage.User {
	t.Helper()
	ctx, now := t.Context(), time.Now().UTC()
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	l := login(storage.LoginSelf, confusable.Key(name))
	copy(l.Skeletons[:], confusable.Skeletons(name))
	u, err := store.CreateUser(ctx, storage.User{Username: name, Name: "Zazazibaribar", Nickname: "Zazazibaribar",
		Email: "z@quokka.example", EmailVerified: true, Picture: "https://quokka.example/z"}, l)
	note(err)
	for i := range n {
		id := fmt.Sprint(i)
		note(store.LinkLogins(ctx, u.Sub, login(storage.LoginEmail, id+"@quokka.example")))
		_, err := store.SaveSession(ctx, storage.Session{ID: "s" + id, UserID: u.Sub, AuthTime: now,
			ExpiresAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour), IP: "192.0.2.7", Agent: "wombat-of-the-hills"})
		note(err)
		_, err = store.SaveConsent(ctx, storage.Consent{AppID: "app" + id, UserID: u.Sub, Scope: "openid"})
		note(err)
		_, err = store.EnsureOpenID(ctx, "app"+id, u.Sub)
		note(err)
		_, err = store.SaveTicket(ctx, storage.Ticket{ID: "t" + id, Kind: "link", Subject: "z@quokka.example", UserID: u.Sub,
			CreatedAt: now, ExpiresAt: now.Add(time.Minute)})
		note(err)
		if i < 15 {
			_, err = store.CreateAPIKey(ctx, apikey.Key{ID: handle.Hash("key" + id), UserID: u.Sub, Name: "wombat-of-the-hills",
				Scope: "tools"}, time.Hour)
			note(err)
		}
	}
	_, err = store.SaveFactors(ctx, storage.Factors{
		UserID: u.Sub, Authenticator: &authn.Authenticator{CreatedAt: now}, AppSecret: storage.NewSecret("JBSWY3DPEHPK3PXP"),
		Passkeys: []authn.Passkey{{ID: "x", Name: "key of wombat-of-the-hills"}}, Recovery: []authn.RecoveryCode{{Hash: "x"}},
	})
	note(err)
	_, err = store.SaveTicket(ctx, storage.Ticket{ID: "second", Kind: "factor", UserID: u.Sub, Query: "client_id=app0",
		Agent: "wombat-of-the-hills", CreatedAt: now, ExpiresAt: now.Add(time.Minute)})
	note(err)
	c, err := store.SaveCapability(ctx, storage.Capability{Member: "pets", Kind: storage.CapabilityREST,
		UpstreamURL: "https://up.example.com", Owner: "u0"}, nil)
	note(err)
	_, err = store.SaveAccess(ctx, access.List{Member: c.Member, Rules: []access.Rule{{Subject: "user:" + u.Sub}}})
	note(err)
	app, err := store.CreateApp(ctx, storage.App{Name: "Shop", Owner: u.Sub, Domains: []string{"shop.example.com"}}, 0,
		storage.Quota{})
	note(err)
	note(store.DeleteApp(ctx, app, storage.Quota{Calls: 5, Until: now.Add(time.Hour)}))
	note(store.Issue(ctx, driver.Token{Key: driver.Key{1}, Kind: driver.KindRefresh, Grant: "g", GrantedAt: now,
		AppID: "app0", UserID: u.Sub, IssuedAt: now, ExpiresAt: now.Add(time.Hour)}))
	_, err = store.AddMail(ctx, storage.Mail{Kind: "notice", Of: u.Sub, Content: storage.NewSecret("to z@quokka.example"),
		ExpiresAt: now.Add(time.Hour)})
	note(err)
	_, err = store.SaveGroup(ctx, groups.Group{Name: "wombats", Managers: []string{u.Sub}})
	note(err)
	_, err = store.AddMember(ctx, "wombats", u.Sub)
	note(err)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return u
}

// erase erases a user; what is noted is appended to the trail.
func erase(t *testing.T, store *storage.Store, sub string) (Erased, error) {
	t.Helper()
	revoke := logout.By(store)
	return Erase(t.Context(), store, revoke, func(ctx context.Context, e Erased) error {
		return store.Append(ctx, driver.Record{At: time.Now(), Data: []byte("erased " + sub +
			strings.Join(e.Changes(), "; "))})
	}, sub)
}

// left tells which kinds of records name a user, by a text or by their sub.
func left(t *testing.T, b driver.Backend, sub string) (named, bySub []string) {
	t.Helper()
	found, found2 := map[string]bool{}, map[string]bool{}
	for _, table := range transfer.Tables() {
		for after := []byte(nil); ; {
			page, err := b.(transfer.Adapter).Rows(t.Context(), table, after, 500)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range page {
				what, all := string(table), slices.Concat(row.Key, []byte("\n"), row.Value)
				if d, err := row.Doc(); table == transfer.Documents && err == nil {
					what = d.Kind
				}
				for _, text := range texts {
					found[what] = found[what] || bytes.Contains(bytes.ToLower(all), []byte(strings.ToLower(text)))
				}
				found2[what] = found2[what] || bytes.Contains(all, []byte(sub))
			}
			if len(page) == 0 {
				break
			}
			after = page[len(page)-1].Key
		}
	}
	only := func(m map[string]bool) []string {
		maps.DeleteFunc(m, func(_ string, is bool) bool { return !is })
		return slices.Sorted(maps.Keys(m))
	}
	return only(found), only(found2)
}

// May name an erased user by sub: see package storage.
var mayName = []string{"access", "apikeyfence", "appfence", "audit", "capabilityfence", "closedapp", "epoch", "erased",
	"revocations", "tokens"}

// gone complains unless nothing but mayName has anything of a user.
func gone(t *testing.T, b driver.Backend, store *storage.Store, sub string) {
	t.Helper()
	if _, err := store.User(t.Context(), sub); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the user is %v, want ErrNotFound", err)
	}
	named, bySub := left(t, b, sub)
	bySub = slices.DeleteFunc(bySub, func(kind string) bool { return slices.Contains(mayName, kind) })
	if len(named)+len(bySub) > 0 {
		t.Errorf("named in %q, by sub in %q", named, bySub)
	}
}

func TestEraseFreesTheNameAndLeavesOnlyTheAccounts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for adapter, make := range adapters {
		t.Run(adapter, func(t *testing.T) {
			b := make(t)
			store := openOn(t, b)
			u := person(t, store, 120)
			if named, bySub := left(t, b, u.Sub); len(named) < 6 || !slices.Contains(bySub, "spent") ||
				!slices.Contains(bySub, "factors") {
				t.Fatalf("before, %q and %q name the user: the test looks in the wrong place", named, bySub)
			}
			e, err := erase(t, store, u.Sub)
			if want := (Erased{120, 121, 15, 120, 120}); err != nil || e != want {
				t.Fatalf("erased %+v, %v, want %+v", e, err, want)
			}
			gone(t, b, store, u.Sub)
			if c, err := store.Counts(t.Context()); err != nil || c.Users != 0 {
				t.Errorf("%d users are counted, %v", c.Users, err)
			}
			if err := store.Exchange(t.Context(), driver.Key{1}, time.Now()); !errors.Is(err, storage.ErrRevoked) {
				t.Errorf("a refresh token of theirs: %v", err)
			}
			again := person2(t, store)
			if again.Sub == u.Sub || again.ID == u.ID {
				t.Errorf("the next of the name is %q, number %d, as before", again.Sub, again.ID)
			}
			if err := store.EraseUser(t.Context(), u.Sub, confusable.Skeletons); err != nil {
				t.Errorf("once more it is %v", err)
			}
			if l, err := store.Login(t.Context(), storage.LoginSelf, confusable.Key(name)); err != nil || l.UserID != again.Sub {
				t.Errorf("the name is %q's, %v", l.UserID, err)
			}
			if c, err := store.Counts(t.Context()); err != nil || c.Users != 1 {
				t.Errorf("%d users are counted, %v", c.Users, err)
			}
		})
	}
}

// person2 makes another user of the same name and address.
func person2(t *testing.T, store *storage.Store) storage.User {
	t.Helper()
	l := login(storage.LoginSelf, confusable.Key(name))
	copy(l.Skeletons[:], confusable.Skeletons(name))
	u, err := store.CreateUser(t.Context(), storage.User{Username: name}, l, login(storage.LoginEmail, "0@quokka.example"))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// cutting fails its nth write, before or after it is done, and all later ones.
type cutting struct {
	driver.Backend
	mu    sync.Mutex
	n     int // writes until it fails; 0: none fails
	after bool
}

var errCut = errors.New("no power")

func (c *cutting) cut(write func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.n == 0:
		return write()
	case c.n < 0:
		return errCut
	}
	if c.n--; c.n > 0 {
		return write()
	}
	c.n = -1
	if c.after {
		return errors.Join(write(), errCut)
	}
	return errCut
}

func (c *cutting) Put(ctx context.Context, docs ...driver.Doc) (v int64, err error) {
	err = c.cut(func() error { v, err = c.Backend.Put(ctx, docs...); return err })
	return v, err
}

func (c *cutting) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	return c.cut(func() error { return c.Backend.Revoke(ctx, rs...) })
}

func (c *cutting) Append(ctx context.Context, rs ...driver.Record) error {
	return c.cut(func() error { return c.Backend.Append(ctx, rs...) })
}

// Wherever it breaks off, the user cannot sign in, the name is not free, and the next time finishes it.
func TestErasureThatBreaksOffAnywhereIsFinishedTheNextTime(t *testing.T) {
	n := 0
	for cut := 1; cut < 100; cut++ {
		whole := false
		for _, after := range []bool{false, true} {
			b := memory.New()
			c := &cutting{Backend: b, after: after}
			store := openOn(t, c)
			u := person(t, store, 30)
			c.n = cut
			_, err := erase(t, store, u.Sub)
			c.n = 0
			if whole = err == nil; whole {
				continue
			}
			n++
			is, err := store.User(t.Context(), u.Sub)
			if (cut > 1 || after) && err == nil && !is.Disabled || err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("cut at %d, %v: the user can sign in: %+v, %v", cut, after, is, err)
			}
			if _, taken := store.Login(t.Context(), storage.LoginSelf, confusable.Key(name)); (taken == nil) != (err == nil) {
				t.Errorf("cut at %d, %v: the user is %v and the name %v", cut, after, err, taken)
			}
			if err == nil && is.Erasing {
				is.Disabled = false
				if _, err := store.SaveUserKeepingAdmin(t.Context(), is); !errors.Is(err, storage.ErrInvalid) {
					t.Errorf("cut at %d: the user is enabled again: %v", cut, err)
				}
			}
			if _, err := erase(t, store, u.Sub); err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Fatalf("cut at %d, %v: the next time it is %v", cut, after, err)
			}
			gone(t, b, store, u.Sub)
		}
		if whole {
			break
		}
	}
	if n < 20 {
		t.Errorf("it was cut %d times", n)
	}
	t.Logf("cut %d times", n)
}

func TestOwnerAndTheLastAdministratorAreNotErasedAndStayAsTheyAre(t *testing.T) {
	ctx, store := t.Context(), open(t)
	root := create(t, store, storage.User{Username: "root", Role: storage.RoleAdmin})
	mina := create(t, store, storage.User{Username: "mina"})
	for range 3 {
		if _, err := store.CreateApp(ctx, storage.App{Name: "Shop", Owner: mina.Sub, Domains: []string{"shop.example.com"}},
			0, storage.Quota{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.SaveCapability(ctx, storage.Capability{Member: "pets", Kind: storage.CapabilityREST,
		UpstreamURL: "https://up.example.com", Owner: mina.Sub}, nil); err != nil {
		t.Fatal(err)
	}
	_, err := erase(t, store, mina.Sub)
	if owns := (*Owner)(nil); !errors.As(err, &owns) || *owns != (Owner{3, 1}) || !errors.Is(err, storage.ErrStillOwns) {
		t.Errorf("of an owner it is %v", err)
	}
	if _, err := erase(t, store, root.Sub); !errors.Is(err, storage.ErrLastAdmin) {
		t.Errorf("of the last administrator it is %v", err)
	}
	for _, was := range []storage.User{mina, root} {
		if u, err := store.User(ctx, was.Sub); err != nil || !reflect.DeepEqual(u, was) {
			t.Errorf("%+v is now %+v, %v", was, u, err)
		}
	}
	if _, err := erase(t, store, "unobody"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("of nobody it is %v", err)
	}
	if err := store.EraseUser(ctx, root.Sub, confusable.Skeletons); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("of a user who is not disabled it is %v", err)
	}
}

// If what is removed cannot be noted, nothing is removed.
func TestEraseRemovesNothingBeforeItIsNoted(t *testing.T) {
	store := open(t)
	u := person(t, store, 3)
	revoke := logout.By(store)
	_, err := Erase(t.Context(), store, revoke, func(ctx context.Context, e Erased) error {
		u, err := store.User(ctx, u.Sub)
		if err != nil || !u.Disabled {
			t.Errorf("when it is noted the user is %+v, %v", u, err)
		}
		if strings.Contains(strings.ToLower(fmt.Sprint(e.Changes())), "zan") {
			t.Errorf("what is noted has the name: %q", e.Changes())
		}
		return errCut
	}, u.Sub)
	if !errors.Is(err, errCut) {
		t.Fatalf("it is %v", err)
	}
	logins, err := store.Logins(t.Context(), u.Sub)
	consents, err2 := store.Consents(t.Context(), u.Sub)
	if len(logins) != 4 || len(consents) != 3 || err != nil || err2 != nil {
		t.Errorf("%d ways in and %d consents are left, %v, %v", len(logins), len(consents), err, err2)
	}
}
