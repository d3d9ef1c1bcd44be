package signin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

func TestUsernameIsFoundHoweverItIsTyped(t *testing.T) {
	rm := newFixture(t, nil)
	users := users.New(rm.store, cheap(rm.hashes))
	for _, typed := range []string{"Mina", "mina", "MINA", "  mina\t"} {
		if u, err := users.Authenticate(context.Background(), typed, password); err != nil || u.Sub != rm.mina.Sub ||
			u.Username != "Mina" {
			t.Errorf("Authenticate(%q) = %+v, %v, want Mina", typed, u, err)
		}
	}
	_, err := users.Create(context.Background(), storage.User{Username: " mINA "}, password)
	if !errors.Is(err, storage.ErrExists) || !strings.Contains(err.Error(), `"mINA" is taken`) {
		t.Errorf("Create(mINA) = %v, want ErrExists and what to do", err)
	}
}

// People type the name or the address that they sign in with elsewhere.
func TestConfirmedAddressTypedAsUsernameFindsItsUser(t *testing.T) {
	rm := newFixture(t, nil)
	ctx, users := context.Background(), users.New(rm.store, cheap(rm.hashes))
	must(t, users.LinkEmail(ctx, rm.mina.Sub, "mina@example.com"))
	paul, err := users.Create(ctx, storage.User{Username: "paul@example.com"}, "paul's own password")
	must(t, err)
	must(t, users.LinkEmail(ctx, rm.mina.Sub, "paul@example.com"))
	for typed, want := range map[string]string{"mina@example.com": rm.mina.Sub, " Mina@Example.COM ": rm.mina.Sub,
		"mina@example.org": ""} {
		if sub, err := users.Named(ctx, typed); sub != want || (err == nil) != (want != "") {
			t.Errorf("Named(%q) = %q, %v", typed, sub, err)
		}
		hashes := rm.hashes.Load()
		u, err := users.Authenticate(ctx, typed, password)
		if (err == nil) != (want != "") || u.Sub != want {
			t.Errorf("Authenticate(%q) = %+v, %v", typed, u, err)
		}
		if n := rm.hashes.Load() - hashes; n != 1 {
			t.Errorf("Authenticate(%q) computed %d hashes, want 1", typed, n)
		}
	}
	if u, err := users.Authenticate(ctx, "paul@example.com", password); err == nil {
		t.Errorf("an address that is somebody else's username signs in as %q", u.Username)
	}
	if u, err := users.Authenticate(ctx, "paul@example.com", "paul's own password"); err != nil || u.Sub != paul.Sub {
		t.Errorf("the username = %+v, %v", u, err)
	}
	byCode, err := users.CreateByEmail(ctx, "kim@example.com")
	must(t, err)
	if u, err := users.Authenticate(ctx, "kim@example.com", password); err == nil || byCode.Sub == "" {
		t.Errorf("somebody without a password is %+v", u)
	}
}

func TestUsernamesAndPasswordsAreValidated(t *testing.T) {
	for _, c := range []struct {
		promise, username, password string
		complaints                  []string
	}{
		{"8 characters of any script", "a", "密码密码密码密码", nil},
		{"1024 bytes", "ümit O'Neil", strings.Repeat("x", 1024), nil},
		{"7 characters", "a", "密码密码密码密", []string{"password"}},
		{"1025 bytes", "a", strings.Repeat("x", 1025), []string{"password"}},
		{"a password that is not text", "a", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", []string{"password"}},
		{"no username", "  ", password, []string{"username"}},
		{"a control character", "mi\x00na", password, []string{"username"}},
		{"a line end", "mi\nna", password, []string{"username"}},
		{"an invisible character", "mi\u200bna", password, []string{"username"}},
		{"a username that is not text", "mi\xffna", password, []string{"username"}},
		{"101 bytes", strings.Repeat("x", 101), password, []string{"username"}},
		{"both wrong: both said", "", "", []string{"username", "password"}},
	} {
		rm := newFixture(t, nil)
		_, err := users.New(rm.store, cheap(rm.hashes)).Create(context.Background(), storage.User{Username: c.username},
			c.password)
		if errors.Is(err, storage.ErrInvalid) != (c.complaints != nil) || (err != nil) != (c.complaints != nil) {
			t.Errorf("%s: Create() = %v, want complaints %v", c.promise, err, c.complaints)
		}
		for _, about := range c.complaints {
			if err == nil || !strings.Contains(err.Error(), about+":") {
				t.Errorf("%s: Create() = %v, want a word about %s", c.promise, err, about)
			}
		}
	}
}

func TestPasswordIsNotCut(t *testing.T) {
	rm := newFixture(t, nil)
	users := users.New(rm.store, cheap(rm.hashes))
	long := strings.Repeat("x", 1000)
	_, err := users.Create(context.Background(), storage.User{Username: "long"}, long+"A")
	must(t, err)
	if _, err := users.Authenticate(context.Background(), "long", long+"B"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Authenticate(its last letter changed) = %v, want ErrNotFound", err)
	}
}

func TestHashIsMadeAgainWhenItsCostHasChanged(t *testing.T) {
	rm := newFixture(t, nil)
	ctx := context.Background()
	before, err := rm.store.Login(ctx, storage.LoginSelf, "mina")
	must(t, err)
	dearer := users.New(rm.store, passwords.New(passwords.Cost{Memory: 16, Passes: 2}))
	for range 2 {
		_, err = dearer.Authenticate(ctx, "mina", password)
		must(t, err)
	}
	after, err := rm.store.Login(ctx, storage.LoginSelf, "mina")
	must(t, err)
	if !strings.Contains(after.PasswordHash, "m=16,t=2,p=1") || !strings.Contains(before.PasswordHash, "m=8,t=1,p=1") {
		t.Errorf("hash %q became %q, want the new cost", before.PasswordHash, after.PasswordHash)
	}
	_, err = dearer.Authenticate(ctx, "mina", "wrong password")
	if again, _ := rm.store.Login(ctx, storage.LoginSelf, "mina"); !errors.Is(err, storage.ErrNotFound) ||
		again.Version != after.Version {
		t.Errorf("a wrong password: %v, version %d, want ErrNotFound and %d", err, again.Version, after.Version)
	}
}

func TestSignInComputesOneHash(t *testing.T) {
	rm := newFixture(t, nil)
	rm.enterMina()
	if n := rm.hashes.Load(); n != 1 {
		t.Errorf("%d computed, want 1", n)
	}
}

func TestStaticToolsAreCalled(t *testing.T) {
	rm := newFixture(t, nil)
	rm.enterMina()
	first, err := rm.store.User(context.Background(), rm.mina.Sub)
	must(t, err)
	rm.enterMina()
	second, err := rm.store.User(context.Background(), rm.mina.Sub)
	must(t, err)
	if first.LoginType != "self" || second.Version != first.Version {
		t.Errorf("login type %q, written again: %v, want self, once", first.LoginType, second.Version != first.Version)
	}
}

func TestDamagedHashIsTroubleAndNotAWrongPassword(t *testing.T) {
	rm := newFixture(t, nil)
	login, err := rm.store.Login(context.Background(), storage.LoginSelf, "mina")
	must(t, err)
	login.PasswordHash = "$argon2id$v=19$m=4294967295,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAA"
	_, err = rm.store.SaveLogin(context.Background(), login)
	must(t, err)
	a := rm.do(post("username", "mina", "password", password))
	if a.Code != 500 || !strings.Contains(rm.log.String(), rm.mina.Sub) ||
		strings.Contains(rm.log.String(), "4294967295") {
		t.Errorf("sign-in = %d, log %q, want 500 and whose hash it is, without the hash", a.Code, rm.log)
	}
}
