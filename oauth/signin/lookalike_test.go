package signin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/signup"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func TestUsernameThatLooksLikeAnothersIsTaken(t *testing.T) {
	rm := newFixture(t, nil)
	users := users.New(rm.store, cheap(rm.hashes))
	create := func(name string) error {
		_, err := users.Create(context.Background(), storage.User{Username: name}, password)
		return err
	}
	must(t, create("alice"))
	must(t, create("Ian"))
	must(t, create("\u0440\u043e\u0440")) // Cyrillic, like "pop"
	for name, want := range map[string]error{
		"ａlice": storage.ErrExists, "ALICE": storage.ErrExists, "alice\u0301": storage.ErrExists, "aIice": storage.ErrExists,
		"a1ice": storage.ErrExists, "al\u0131ce": storage.ErrExists, "lan": storage.ErrExists, "1an": storage.ErrExists,
		"pop": storage.ErrExists,
		// and never stored
		"\u0430lice": storage.ErrInvalid, "alice\u200b": storage.ErrInvalid, "al\u3164ice": storage.ErrInvalid,
		"alicia": nil, "王小明": nil,
	} {
		if err := create(name); !errors.Is(err, want) {
			t.Errorf("Create(%+q) = %v, want %v", name, err, want)
		} else if want == storage.ErrExists && !strings.Contains(err.Error(), "choose another one") {
			t.Errorf("Create(%+q) = %v: does not say what to do", name, err)
		}
	}
}

func TestUsernameTypedInFullWidthSignsIn(t *testing.T) {
	rm := newFixture(t, nil)
	for _, typed := range []string{"ｍｉｎａ", "Ｍｉｎａ", "\u3000mina\u3000"} {
		if a := rm.do(post("username", typed, "password", password)); a.Code != http.StatusSeeOther {
			t.Errorf("sign-in as %q = %d, want 303", typed, a.Code)
		}
	}
	for _, typed := range []string{"m\u0456na", "mına", "mína", "rnina", "m1na"} { // alike is not the same
		if a := rm.do(post("username", typed, "password", password)); a.Code != http.StatusUnauthorized {
			t.Errorf("sign-in as %+q = %d, want 401: it is somebody else's name, or nobody's", typed, a.Code)
		}
	}
	users := users.New(rm.store, cheap(rm.hashes))
	u, err := users.Create(context.Background(), storage.User{Username: "Ｂｏｂ\u3000"}, password)
	if err != nil || u.Username != "Bob" {
		t.Errorf("Create() = %q, %v, want the name in its normal form", u.Username, err)
	}
	if _, err := users.Authenticate(context.Background(), "bob", password); err != nil {
		t.Errorf("Authenticate(bob) = %v", err)
	}
}

// before is a store of users who were made when usernames were compared by lower case alone.
func before(t *testing.T, names ...string) (store *storage.Store, all []storage.User) {
	t.Helper()
	store, err := storage.Open(context.Background(), memory.New(), storage.NewMasterKey())
	must(t, err)
	hash, err := cheap(new(atomic.Int64)).Hash(context.Background(), password)
	must(t, err)
	for _, name := range names {
		u, err := store.CreateUser(context.Background(), storage.User{Username: name},
			storage.Login{Method: storage.LoginSelf, Subject: strings.ToLower(name), PasswordHash: hash})
		must(t, err)
		all = append(all, u)
	}
	return store, all
}

func TestExistingUsersWhoLookAlikeKeepTheirNames(t *testing.T) {
	store, all := before(t, "alice", "\u0430lice", "ａlice", "ｂｏｂ", "paypa1")
	users := users.New(store, cheap(new(atomic.Int64)))
	check := func(when string) {
		for _, u := range all {
			if who, err := users.Authenticate(context.Background(), u.Username, password); err != nil || who.Sub != u.Sub {
				t.Errorf("%s: Authenticate(%+q) = %q, %v, want %q", when, u.Username, who.Username, err, u.Username)
			}
		}
	}
	check("before anybody signs up")
	for _, name := range []string{"paypal", "bob", "alíce"} {
		if _, err := users.Create(context.Background(), storage.User{Username: name}, password); !errors.Is(err,
			storage.ErrExists) {
			t.Errorf("Create(%s) = %v, want ErrExists: somebody was there before", name, err)
		}
	}
	check("after")
}

func TestSignUpOfManyLookAlikesAtOnceLetsOneThrough(t *testing.T) {
	store, _ := before(t, "old")
	var made atomic.Int64
	var all sync.WaitGroup
	for _, name := range []string{"eve1", "evel", "eveI", "ｅｖｅl", "évél", "EVEL"} {
		all.Go(func() {
			switch _, err := users.New(store, cheap(new(atomic.Int64))).Create(context.Background(),
				storage.User{Username: name}, password); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, storage.ErrExists):
				t.Errorf("Create(%s) = %v", name, err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d of them are made, want one", made.Load())
	}
}

func TestDrawnUsernameIsNobodyElsesEither(t *testing.T) {
	rm := newFixture(t, nil)
	admitted := users.WithAdmission(context.Background(), users.Admission{Open: true})
	users := users.New(rm.store, cheap(rm.hashes))
	byMail, err := users.CreateByEmail(context.Background(), "ada@example.org")
	must(t, err)
	byQQ, err := users.Connected(admitted, storage.LoginQQ, connector.Profile{Subjects: []string{"s1"}})
	must(t, err)
	for _, u := range []storage.User{byMail, byQQ} {
		if _, err := users.Create(context.Background(), storage.User{Username: u.Username}, password); !errors.Is(err,
			storage.ErrExists) {
			t.Errorf("Create(%s) = %v, want ErrExists", u.Username, err)
		}
	}
}

func TestSignUpPageSaysWhatIsWrongWithAUsername(t *testing.T) {
	rm := newFixture(t, func(c *Config) { c.SignUp = SignUpOpen })
	send := func(name string) answer {
		r := post("username", name, "password", "a long enough one")
		r.URL.Path = signup.Path
		return rm.do(r)
	}
	for name, want := range map[string]string{
		"m\u0456na": "mixes writing systems", "ｍiｎａ": "This username is taken", "mína": "This username is taken",
		"m\u200bina": "cannot be used", strings.Repeat("ﷺ", 12): "cannot be used",
	} {
		if a := send(name); a.Code != http.StatusBadRequest || !strings.Contains(a.body, want) {
			t.Errorf("sign-up as %+q = %d, want 400 and %q: %s", name, a.Code, want, a.body)
		}
	}
}

func TestSignUpStopsWhileExistingUsersCannotBeRead(t *testing.T) {
	rm := newFixture(t, nil)
	rm.store.looks = errDown
	_, err := users.New(rm.store, cheap(rm.hashes)).Create(context.Background(), storage.User{Username: "new"}, password)
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Create() = %v, want ErrUnavailable", err)
	}
}
