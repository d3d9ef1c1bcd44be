package people_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// listener is a store whose user events are wanted.
type listener struct {
	*testing.T
	store   *storage.Store
	backend *stopping
	seen    int
}

func newListener(t *testing.T) *listener {
	t.Helper()
	b := &stopping{Backend: memory.New()}
	store, err := storage.Open(t.Context(), b, storage.NewMasterKey())
	if err == nil {
		_, err = store.SetUserWebhook(t.Context(), "https://hook.example/users", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &listener{T: t, store: store, backend: b}
}

// news are the events since the last call, one line each, and their bodies.
func (l *listener) news() (lines, bodies string) {
	l.Helper()
	all, err := l.store.Deliveries(context.Background(), notify.Users)
	if err != nil {
		l.Fatal(err)
	}
	for _, d := range all[l.seen:] {
		var e struct {
			Type string
			Data notify.UserEvent
		}
		if err := json.Unmarshal(d.Payload, &e); err != nil || e.Type != d.Event || e.Data.Sub == "" {
			l.Errorf("%s: %s, %v", d.Event, d.Payload, err)
		}
		lines += strings.TrimSpace(e.Type+" "+strings.Join(append(e.Data.Methods, e.Data.Fields...), ",")) + "\n"
		bodies += string(d.Payload)
	}
	l.seen = len(all)
	return lines, bodies
}

func (l *listener) want(what, want string) {
	l.Helper()
	if got, _ := l.news(); got != want {
		l.Errorf("%s: the events are\n%swant\n%s", what, got, want)
	}
}

func (l *listener) do(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *listener) person() storage.User {
	l.Helper()
	u, err := l.store.CreateUser(context.Background(), storage.User{Username: "Zanzibar", Email: "z@quokka.example"},
		storage.Login{Method: storage.LoginSelf, Subject: "zanzibar", PasswordHash: "wombat"})
	l.do(err)
	return u
}

func (l *listener) save(u storage.User, change func(*storage.User)) storage.User {
	l.Helper()
	change(&u)
	u, err := l.store.SaveUserKeepingAdmin(context.Background(), u)
	l.do(err)
	return u
}

func TestChangeOfAUserIsAnEvent(t *testing.T) {
	l, ctx := newListener(t), t.Context()
	u := l.person()
	l.want("created", "user.created self\n")
	l.do(l.store.LinkLogins(ctx, u.Sub, storage.Login{Method: storage.LoginEmail, Subject: "z@quokka.example"}))
	l.want("linked", "user.linked email\n")
	_, err := l.store.SaveLogin(ctx, storage.Login{Method: storage.LoginWX, Subject: "x", UserID: u.Sub})
	l.do(err)
	l.want("linked by another way", "user.linked wx\n")
	all, err := l.store.Logins(ctx, u.Sub)
	l.do(err)
	byMethod := map[string]storage.Login{}
	for _, one := range all {
		byMethod[one.Method] = one
	}
	own := byMethod[storage.LoginSelf]
	own.PasswordHash = "another"
	own, err = l.store.SaveLogin(ctx, own)
	l.do(err)
	l.want("a password", "user.changed password\n")
	l.do(l.store.UnlinkLogins(ctx, own, byMethod[storage.LoginEmail]))
	l.want("unlinked", "user.unlinked email\n")
	l.do(l.store.EndLogins(ctx, byMethod[storage.LoginWX]))
	l.want("unlinked by another way", "user.unlinked wx\n")
	u = l.save(u, func(u *storage.User) { u.Nickname, u.Role = "Zaza", storage.RoleAdmin })
	l.want("changed", "user.changed nickname,role\n")
	u = l.save(u, func(u *storage.User) { u.LoginType = storage.LoginWX })
	l.want("signed in, which is no change", "")
	other, err := l.store.CreateUser(ctx, storage.User{Username: "other", Role: storage.RoleAdmin})
	l.do(err)
	l.want("another, without a way in", "user.created\n")
	u = l.save(u, func(u *storage.User) { u.Disabled = true }) // written beside the fence of administrators
	l.want("locked", "user.locked\n")
	u = l.save(u, func(u *storage.User) { u.Disabled, u.Gender = false, "male" })
	l.want("enabled", "user.changed gender\nuser.enabled\n")
	l.save(u, func(u *storage.User) { u.Disabled, u.Erasing = true, true })
	l.do(l.store.EraseUser(ctx, u.Sub, func(string) []string { return nil }))
	l.want("erased", "user.locked\nuser.deleted\n")
	l.do(l.store.EraseUser(ctx, u.Sub, func(string) []string { return nil }))
	l.want("erased once more", "")
	_ = other
}

func TestEventNamesNobodyButTheSub(t *testing.T) {
	l := newListener(t)
	u := l.person()
	l.do(l.store.LinkLogins(t.Context(), u.Sub, storage.Login{Method: storage.LoginEmail, Subject: "z@quokka.example"}))
	l.save(u, func(u *storage.User) { u.Email, u.Nickname = "zaza@quokka.example", "Zaza" })
	_, bodies := l.news()
	for _, secret := range []string{"anzibar", "quokka", "Zaza", "wombat"} {
		if strings.Contains(bodies, secret) {
			t.Errorf("%q is told: %s", secret, bodies)
		}
	}
	if strings.Count(bodies, u.Sub) != 3 {
		t.Errorf("the sub is not in each of %s", bodies)
	}
}

func TestUserChangeAndItsEventAreStoredTogether(t *testing.T) {
	l := newListener(t)
	u := l.person()
	l.news()
	l.backend.stopped = true
	u.Nickname = "Zaza"
	if _, err := l.store.SaveUser(t.Context(), u); err == nil {
		t.Fatal("SaveUser() = nil, want the error of the store")
	}
	l.backend.stopped = false
	if now, err := l.store.User(t.Context(), u.Sub); err != nil || now.Nickname != "" {
		t.Errorf("the user is %+v, %v, want no nickname", now, err)
	}
	l.want("not changed", "")
	stale := u
	l.save(u, func(u *storage.User) { u.Location = "here" })
	l.want("changed", "user.changed nickname,location\n")
	if _, err := l.store.SaveUser(t.Context(), stale); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("SaveUser() of an old version = %v, want ErrConflict", err)
	}
	if err := l.store.LinkLogins(t.Context(), u.Sub, storage.Login{Method: storage.LoginSelf,
		Subject: "zanzibar"}); !errors.Is(err, storage.ErrExists) {
		t.Errorf("LinkLogins() of a taken name = %v, want ErrExists", err)
	}
	l.want("refused", "")
}

func TestUserEventsAreNotKeptWithoutAWebhook(t *testing.T) {
	l := newListener(t)
	_, err := l.store.SetUserWebhook(t.Context(), "", false)
	l.do(err)
	u := l.person()
	l.save(u, func(u *storage.User) { u.Disabled = true })
	l.want("nobody wants to know", "")
}

func TestSecretOfTheWebhookStaysUntilANewOneIsWanted(t *testing.T) {
	l, ctx := newListener(t), t.Context()
	url, first, err := l.store.UserWebhook(ctx)
	if err != nil || url != "https://hook.example/users" || !strings.HasPrefix(first.Reveal(), "whsec_") {
		t.Fatalf("UserWebhook() = %s, %d bytes, %v", url, len(first.Reveal()), err)
	}
	if again, err := l.store.SetUserWebhook(ctx, "https://other.example/", false); err != nil || !again.IsZero() {
		t.Errorf("with another URL the secret is drawn anew, or %v", err)
	}
	if _, now, err := l.store.UserWebhook(ctx); err != nil || !now.Equal(first.Reveal()) {
		t.Errorf("with another URL the secret is another, or %v", err)
	}
	renewed, err := l.store.SetUserWebhook(ctx, "https://other.example/", true)
	if err != nil || renewed.Equal(first.Reveal()) {
		t.Errorf("SetUserWebhook(renew) = the same secret, %v", err)
	}
	if url, now, err := l.store.UserWebhook(ctx); err != nil || url != "https://other.example/" ||
		!now.Equal(renewed.Reveal()) {
		t.Errorf("UserWebhook() = %s, %v, want the new secret", url, err)
	}
	settings, err := l.store.Settings(ctx)
	l.do(err)
	for _, s := range settings {
		if strings.Contains(s.Value, "whsec_") {
			t.Errorf("the setting %s holds the secret", s.Name)
		}
	}
	docs, _, err := l.backend.List(ctx, "hmac", driver.Is("all"), 10)
	l.do(err)
	for _, d := range docs {
		if strings.Contains(string(d.Data), renewed.Reveal()) {
			t.Error("the secret is not sealed")
		}
	}
}

// stopping fails every write once it is told to.
type stopping struct {
	driver.Backend
	stopped bool
}

func (s *stopping) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if s.stopped {
		return 0, errors.New("no power")
	}
	return s.Backend.Put(ctx, docs...)
}
