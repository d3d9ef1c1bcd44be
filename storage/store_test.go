package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func open(t *testing.T) (*storage.Store, *memory.Store) {
	t.Helper()
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store, backend
}

func TestMasterKeyThatIsWrongFailsAtStart(t *testing.T) {
	backend := memory.New()
	defer backend.Close()
	key := storage.NewMasterKey()
	if _, err := storage.Open(t.Context(), backend, key); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Open(t.Context(), backend, storage.NewMasterKey()); err == nil {
		t.Error("Open with another master key succeeded")
	}
	if _, err := storage.Open(t.Context(), backend); err == nil {
		t.Error("Open without a master key succeeded")
	}
	if _, err := storage.Open(t.Context(), backend, storage.NewMasterKey(), key); err != nil {
		t.Errorf("Open with a new key beside the old one = %v, want success", err)
	}
}

func TestApplicationComesBackAsItWasSaved(t *testing.T) {
	store, backend := open(t)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Domains: []string{"app.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(app.ID, "ks") || len(app.AppKey().Reveal()) != 43 || app.Tier != storage.TierFree ||
		app.Version == 0 {
		t.Errorf("SaveApp = %+v, want an id, a secret of 43 characters, tier free and a version", app)
	}
	read, err := store.App(t.Context(), app.ID)
	if err != nil || !read.AppKey().Equal(app.AppKey().Reveal()) || read.Version != app.Version || read.Name != "A" {
		t.Errorf("App = %+v, %v, want what was saved", read, err)
	}
	doc, err := backend.Get(t.Context(), "app", app.ID)
	if err != nil || bytes.Contains(doc.Data, []byte(app.AppKey().Reveal())) {
		t.Errorf("the backend holds the secret in the clear: %s, %v", doc.Data, err)
	}
}

func TestChangedRecordIsNotOverwritten(t *testing.T) {
	store, _ := open(t)
	app, _ := store.SaveApp(t.Context(), storage.App{Name: "A"})
	other := app
	other.Name = "B"
	if _, err := store.SaveApp(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if _, err := store.SaveApp(t.Context(), app); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("SaveApp of a stale record = %v, want ErrConflict", err)
	}
	if err := store.DeleteApp(t.Context(), app, storage.Quota{}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("DeleteApp of a stale record = %v, want ErrConflict", err)
	}
	fresh, _ := store.App(t.Context(), app.ID)
	if err := store.DeleteApp(t.Context(), fresh, storage.Quota{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.App(t.Context(), app.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("App after DeleteApp = %v, want ErrNotFound", err)
	}
}

func TestFaultyApplicationIsRefusedWithEveryReason(t *testing.T) {
	store, _ := open(t)
	_, err := store.SaveApp(t.Context(), storage.App{
		Domains: []string{"*.example.com"}, RedirectURIs: []string{"http://x/"}, Tier: "gold", IDTokenAlg: "none",
		Secrets: []storage.AppSecret{{Secret: storage.NewSecret("short")}},
	})
	for _, want := range []string{"name", "domains", "redirect_uris", "tier", "id_token_alg", "secret"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("SaveApp = %v, want a complaint about %s", err, want)
		}
	}
	if !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("SaveApp = %v, want ErrInvalid", err)
	}
}

func TestAppsAreListedByOwnerAndPage(t *testing.T) {
	store, _ := open(t)
	for i := range 7 {
		store.SaveApp(t.Context(), storage.App{Name: fmt.Sprint(i), Owner: []string{"u1", "u10"}[i%2]})
	}
	for owner, want := range map[string]int{"": 7, "u1": 4, "u10": 3, "u": 0} {
		seen, from := 0, ""
		for {
			page, next, err := store.Apps(t.Context(), owner, from, 2)
			if err != nil {
				t.Fatal(err)
			}
			seen += len(page)
			if from = next; from == "" {
				break
			}
		}
		if seen != want {
			t.Errorf("Apps(%q) lists %d, want %d", owner, seen, want)
		}
	}
}

func TestSignUpsGetNumbersOfTheirOwnAndNamesOnce(t *testing.T) {
	store, _ := open(t)
	numbers := sync.Map{}
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			name := fmt.Sprintf("user%d", i)
			u, err := store.CreateUser(t.Context(), storage.User{Username: name}, storage.Login{Method: "self", Subject: name})
			if err != nil {
				t.Errorf("CreateUser(%s) = %v", name, err)
			}
			if _, taken := numbers.LoadOrStore(u.ID, name); taken || u.ID < 1 || u.ID > 32 {
				t.Errorf("CreateUser(%s) got the number %d, want one of 1 to 32 that nobody has", name, u.ID)
			}
			if !strings.HasPrefix(u.Sub, "u") || u.Version == 0 {
				t.Errorf("CreateUser(%s) = %+v, want a sub and a version", name, u)
			}
		})
	}
	wg.Wait()
	_, err := store.CreateUser(t.Context(), storage.User{Username: "user1"},
		storage.Login{Method: "self", Subject: "user1"})
	if !errors.Is(err, storage.ErrExists) {
		t.Errorf("CreateUser of a taken name = %v, want ErrExists", err)
	}
	u, err := store.CreateUser(t.Context(), storage.User{Username: "last"}, storage.Login{Method: "self", Subject: "last"})
	if err != nil || u.ID != 33 {
		t.Errorf("after a refusal the next number is %d, %v, want 33", u.ID, err)
	}
	login, err := store.Login(t.Context(), "self", "last")
	if err != nil || login.UserID != u.Sub {
		t.Errorf("Login = %+v, %v, want the user's sub", login, err)
	}
}

func TestConcurrentFirstMeetingsGetOneOpenID(t *testing.T) {
	store, _ := open(t)
	got := make([]string, 32)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			o, err := store.EnsureOpenID(t.Context(), "ks1", "u1")
			if err != nil {
				t.Error(err)
			}
			got[i] = o.OpenID
		})
	}
	wg.Wait()
	for _, o := range got {
		if o != got[0] || len(o) != 32 || strings.ToUpper(o) != o {
			t.Fatalf("openids %v, want one value of 32 upper-case characters", got)
		}
	}
	if o, _ := store.EnsureOpenID(t.Context(), "ks2", "u1"); o.OpenID == got[0] {
		t.Error("two applications know the user by one openid")
	}
}

// ambush lets somebody else act just before the first Put.
type ambush struct {
	driver.Backend
	first func()
}

func (a *ambush) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if act := a.first; act != nil {
		a.first = nil
		act()
	}
	return a.Backend.Put(ctx, docs...)
}

// ambushed is two stores on one backend: whatever the first is about to put, the second
// has done something just before.
func ambushed(t *testing.T, act func(*storage.Store)) *storage.Store {
	t.Helper()
	backend, key := memory.New(), storage.NewMasterKey()
	t.Cleanup(func() { backend.Close() })
	other, err := storage.Open(t.Context(), backend, key)
	if err != nil {
		t.Fatal(err)
	}
	trap := &ambush{Backend: backend}
	store, err := storage.Open(t.Context(), trap, key)
	if err != nil {
		t.Fatal(err)
	}
	trap.first = func() { act(other) }
	return store
}

func TestLoserOfAFirstMeetingGetsTheWinnersOpenID(t *testing.T) {
	var won storage.OpenID
	store := ambushed(t, func(other *storage.Store) { won, _ = other.EnsureOpenID(t.Context(), "ks1", "u1") })
	lost, err := store.EnsureOpenID(t.Context(), "ks1", "u1")
	if err != nil || lost.OpenID != won.OpenID || won.OpenID == "" {
		t.Errorf("MeetOpenID = %q, %v, want the winner's %q", lost.OpenID, err, won.OpenID)
	}
}

func TestSignUpThatLosesItsNumberTakesTheNext(t *testing.T) {
	var first storage.User
	store := ambushed(t, func(other *storage.Store) {
		first, _ = other.CreateUser(t.Context(), storage.User{Username: "a"}, storage.Login{Method: "self", Subject: "a"})
	})
	second, err := store.CreateUser(t.Context(), storage.User{Username: "b"}, storage.Login{Method: "self", Subject: "b"})
	if err != nil || first.ID != 1 || second.ID != 2 {
		t.Errorf("numbers %d and %d, %v, want 1 and 2", first.ID, second.ID, err)
	}
}

func TestSettingThatChangedMeanwhileIsSetAllTheSame(t *testing.T) {
	store := ambushed(t, func(other *storage.Store) { other.Set(t.Context(), "x", "theirs") })
	if err := store.Set(t.Context(), "x", "ours"); err != nil {
		t.Fatal(err)
	}
	if v, _ := store.Setting(t.Context(), "x"); v != "ours" {
		t.Errorf("Setting = %q, want ours", v)
	}
}

func TestSweepRemovesOnlyRetiredKeys(t *testing.T) {
	store, _ := open(t)
	now := time.Now()
	for _, state := range []string{storage.KeyActive, storage.KeyNext, storage.KeyRetired} {
		key := storage.SigningKey{ID: state, Alg: "ES256", State: state, ExpiresAt: now}
		if err := store.SaveKeys(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	store.Sweep(t.Context(), now.Add(time.Hour))
	if keys, err := store.SigningKeys(t.Context()); err != nil || len(keys) != 2 {
		t.Errorf("after a sweep there are %d keys, %v, want the active and the next one", len(keys), err)
	}
}

func TestSettingsAreLastWriterWins(t *testing.T) {
	store, _ := open(t)
	if v, err := store.Setting(t.Context(), "x"); v != "" || err != nil {
		t.Errorf("Setting that was never set = %q, %v, want empty", v, err)
	}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if err := store.Set(t.Context(), "x", "1"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if v, err := store.Setting(t.Context(), "x"); v != "1" || err != nil {
		t.Errorf("Setting = %q, %v, want 1", v, err)
	}
}

func TestFirstKeysAreMadeOnce(t *testing.T) {
	store, _ := open(t)
	for i := range 3 {
		key := storage.SigningKey{ID: fmt.Sprint("k", i), Alg: "ES256", State: storage.KeyActive,
			Private: storage.NewSecret("private")}
		if err := store.FirstKeys(t.Context(), "ES256", key); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := store.SigningKeys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].ID != "k0" || !keys[0].Private.Equal("private") {
		t.Errorf("SigningKeys = %v, %v, want k0 alone with its private part", keys, err)
	}
}

func TestTroubleIsMarkedAndVerdictsAreNot(t *testing.T) {
	store, backend := open(t)
	if _, err := store.App(t.Context(), "nobody"); !errors.Is(err, storage.ErrNotFound) ||
		errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("App(nobody) = %v, want ErrNotFound alone", err)
	}
	if _, err := store.App(t.Context(), "a\x1fb"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("App of an id nothing can have = %v, want ErrNotFound", err)
	}
	backend.Close()
	if _, err := store.App(t.Context(), "nobody"); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("App of a closed backend = %v, want ErrUnavailable", err)
	}
}

func TestSweepEveryRunsUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _ := open(t)
		for i := range 2500 {
			text := handle.New("", time.Now())
			life := time.Duration(i%2+1) * 90 * time.Second
			if err := store.Issue(t.Context(), driver.Token{Key: handle.KeyOf(text),
				ExpiresAt: time.Now().Add(life)}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { store.SweepEvery(ctx, time.Minute, func(err error) { t.Error(err) }); close(done) }()
		time.Sleep(2*time.Minute + time.Second)
		if n, err := store.Sweep(t.Context(), time.Now()); n != 0 || err != nil {
			t.Errorf("Sweep after SweepEvery removed %d, %v, want nothing left to do", n, err)
		}
		stop()
		<-done
		time.Sleep(time.Minute)
		if n, _ := store.Sweep(t.Context(), time.Now()); n != 1250 {
			t.Errorf("%d tokens were left for later, want 1250", n)
		}
	})
}

func TestTokenCannotBeSpentAtTheZeroTime(t *testing.T) {
	store, _ := open(t)
	key := handle.KeyOf(handle.New("", time.Now()))
	if err := store.Issue(t.Context(), driver.Token{Key: key}); err != nil {
		t.Fatal(err)
	}
	if err := store.Exchange(t.Context(), key, time.Time{}); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("Exchange at the zero time = %v, want ErrInvalid", err)
	}
}
