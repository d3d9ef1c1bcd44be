package claims

import (
	"context"
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// table is a table of users that counts how often it is read.
type table struct {
	mu    sync.Mutex
	users map[string]storage.User
	reads int
	while func() // what happens between a read and its answer
}

func (u *table) User(_ context.Context, sub string) (storage.User, error) {
	u.mu.Lock()
	user, ok := u.users[sub]
	u.reads++
	while := u.while
	u.mu.Unlock()
	if while != nil {
		while()
	}
	if !ok {
		return user, storage.ErrNotFound
	}
	return user, nil
}

func (u *table) set(user storage.User) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users[user.Sub] = user
}

func newTable(users ...storage.User) *table {
	u := &table{users: map[string]storage.User{}}
	for _, one := range users {
		u.users[one.Sub] = one
	}
	return u
}

func (a *Answers) text(t testing.TB, sub string, open Parts) string {
	t.Helper()
	answer, err := a.Of(t.Context(), sub, open)
	if err != nil {
		return err.Error()
	}
	if answer == nil {
		return "disabled"
	}
	w := httptest.NewRecorder()
	answer.Write(w)
	return w.Body.String()
}

func TestAnswerIsKeptUntilItsUserChanges(t *testing.T) {
	ada, bob := storage.User{Sub: "ada", Nickname: "Ada", Email: "ada@example.com"},
		storage.User{Sub: "bob", Nickname: "Bob"}
	users := newTable(ada, bob)
	a := NewAnswers("https://id.example.com", users.User, true)
	want := func(what, sub string, open Parts, holds string, reads int) {
		t.Helper()
		users.reads = 0
		if got := a.text(t, sub, open); !strings.Contains(got, holds) || users.reads != reads {
			t.Errorf("%s: %s after %d reads, want %s after %d", what, got, users.reads, holds, reads)
		}
	}
	want("the first time", "ada", Profile, `"nickname":"Ada"`, 1)
	want("again", "ada", Profile, `"nickname":"Ada"`, 0)
	want("with another scope", "ada", Profile|Email, `"email":"ada@example.com"`, 1)
	want("the first again", "ada", Profile, `"email":""`, 0)
	want("somebody else", "bob", Profile, `"nickname":"Bob"`, 1)
	ada.Nickname = "Countess"
	users.set(ada)
	a.Changed(storage.Change{Kind: storage.ChangedApps, IDs: []string{"ada"}})
	want("an application with that id has changed", "ada", Profile, `"nickname":"Ada"`, 0)
	a.Changed(storage.Change{Kind: storage.ChangedUsers, IDs: []string{"eve", "ada"}})
	want("the user has changed", "ada", Profile, `"nickname":"Countess"`, 1)
	want("the user has changed, with another scope", "ada", Profile|Email, `"nickname":"Countess"`, 1)
	want("somebody else then", "bob", Profile, `"nickname":"Bob"`, 0)
	a.Changed(storage.Change{Kind: storage.ChangedUsers})
	want("anybody may have changed", "ada", Profile, `"nickname":"Countess"`, 1)
	want("anybody may have changed: bob", "bob", Profile, `"nickname":"Bob"`, 1)
	bob.Disabled = true
	users.set(bob)
	a.Changed(storage.Change{Kind: storage.ChangedUsers, IDs: []string{"bob"}})
	want("a disabled user", "bob", Profile, "disabled", 1)
	want("a disabled user is not kept", "bob", Profile, "disabled", 1)
	want("nobody", "eve", 0, storage.ErrNotFound.Error(), 1)
	want("nobody is not kept", "eve", 0, storage.ErrNotFound.Error(), 1)
}

func TestClaimsCacheKeepsNothingWithoutChangeNotices(t *testing.T) {
	users := newTable(storage.User{Sub: "ada"})
	a := NewAnswers("https://id.example.com", users.User, false)
	a.text(t, "ada", 0)
	a.Changed(storage.Change{Kind: storage.ChangedUsers})
	if a.text(t, "ada", 0); users.reads != 2 {
		t.Errorf("two answers took %d reads, want 2", users.reads)
	}
}

func TestChangeThatNobodyTellsOfIsSeenAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		users := newTable(storage.User{Sub: "ada", Nickname: "Ada"})
		a := NewAnswers("https://id.example.com", users.User, true)
		a.text(t, "ada", Profile)
		users.set(storage.User{Sub: "ada", Nickname: "Countess"})
		time.Sleep(5*time.Second - 1)
		if got := a.text(t, "ada", Profile); !strings.Contains(got, `"nickname":"Ada"`) || users.reads != 1 {
			t.Errorf("before it is %s after %d reads, want one", got, users.reads)
		}
		time.Sleep(time.Nanosecond)
		if got := a.text(t, "ada", Profile); !strings.Contains(got, `"nickname":"Countess"`) {
			t.Errorf("after five seconds it is %s", got)
		}
	})
}

func TestClaimsReadBeforeAChangeAreNotKeptAfterIt(t *testing.T) {
	users := newTable(storage.User{Sub: "ada", Nickname: "Ada"})
	a := NewAnswers("https://id.example.com", users.User, true)
	users.while = func() {
		users.set(storage.User{Sub: "ada", Nickname: "Countess"})
		a.Changed(storage.Change{Kind: storage.ChangedUsers, IDs: []string{"ada"}})
		users.while = nil
	}
	if got := a.text(t, "ada", Profile); !strings.Contains(got, `"nickname":"Ada"`) {
		t.Errorf("what was read is %s", got)
	}
	if got := a.text(t, "ada", Profile); !strings.Contains(got, `"nickname":"Countess"`) {
		t.Errorf("after the change it is %s", got)
	}
}

// Many ask while users change. A reader that asks after a writer was answered sees that write, or a later one.
func TestAnswerIsNeverOlderThanAWriteAnsweredBefore(t *testing.T) {
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	a := NewAnswers("https://id.example.com", store.User, true)
	defer store.OnChange(a.Changed)()
	var all sync.WaitGroup
	for _, name := range []string{"ada", "bob", "eve"} {
		u, err := store.CreateUser(t.Context(), storage.User{Username: name, Location: "0"})
		if err != nil {
			t.Fatal(err)
		}
		sub := u.Sub
		var mu sync.Mutex
		written, done := 0, make(chan struct{})
		all.Go(func() {
			defer close(done)
			for i := 1; i <= 300; i++ {
				u.Location = strconv.Itoa(i)
				if u, err = store.SaveUser(context.Background(), u); err != nil {
					t.Error(err)
				}
				mu.Lock()
				written = i
				mu.Unlock()
			}
		})
		for range 3 {
			all.Go(func() {
				for {
					mu.Lock()
					least := written
					mu.Unlock()
					text := a.text(t, sub, Profile)
					_, rest, _ := strings.Cut(text, `"location":"`)
					digits, _, _ := strings.Cut(rest, `"`)
					if got, err := strconv.Atoi(digits); err != nil || got < least {
						t.Errorf("the answer is %s, and %d was written before", text, least)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
	}
	all.Wait()
}

func TestAnswerThatIsKeptCostsNoMemory(t *testing.T) {
	a := NewAnswers("https://id.example.com", newTable(storage.User{Sub: "ada"}).User, true)
	a.text(t, "ada", Profile)
	var err error
	if n := testing.AllocsPerRun(100, func() { _, err = a.Of(context.Background(), "ada", Profile) }); n != 0 ||
		err != nil {
		t.Errorf("it takes %v allocations, %v", n, err)
	}
	if _, err := a.Of(t.Context(), "eve", 0); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
}
