package users

import (
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage"
)

func TestSignOutByAnOperatorIsToldOnceAndWithoutASession(t *testing.T) {
	store, now := open(t), time.Now()
	u := create(t, store, storage.User{Username: "ada"})
	app, err := store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"},
		BackchannelLogoutURI: "https://app.example.com/out"})
	if err == nil {
		_, err = store.EnsureOpenID(t.Context(), app.ID, u.Sub)
	}
	if err != nil {
		t.Fatal(err)
	}
	sids := map[string]string{}
	begin := func(id string) storage.Session {
		v, err := store.SaveSession(t.Context(), storage.Session{ID: id, UserID: u.Sub, AuthTime: now,
			ExpiresAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour)})
		if err == nil {
			sids[id], err = store.JoinSession(t.Context(), v, app.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	one := begin("s1")
	begin("s2")
	begin("s3")
	if err := End(t.Context(), store, one); err != nil {
		t.Fatal(err)
	}
	revoke := logout.By(store)
	if ended, err := SignOut(t.Context(), store, revoke, u.Sub); err != nil || ended != 2 {
		t.Fatalf("SignOut() = %d, %v, want 2 sessions", ended, err)
	}
	all, err := store.Deliveries(t.Context(), notify.App(app.ID))
	var got []notify.Logout
	for _, d := range all {
		l, _ := notify.ReadLogout(d.Payload)
		got = append(got, l)
	}
	if want := []notify.Logout{{Sub: u.Sub, SID: sids["s1"]}, {Sub: u.Sub}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the application is told %+v, %v, want %+v", got, err, want)
	}
}
