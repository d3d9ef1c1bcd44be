package storage_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// asks counts what is asked of a Backend that is a driver.Gatherer.
type asks struct {
	driver.Backend
	gathered, single int
}

func (a *asks) Gather(ctx context.Context, all ...driver.Ask) ([]driver.Answer, error) {
	a.gathered++
	gatherer, _ := driver.As[driver.Gatherer](a.Backend)
	return gatherer.Gather(ctx, all...)
}

func (a *asks) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	a.single++
	return a.Backend.Get(ctx, kind, id)
}

func (a *asks) List(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
	a.single++
	return a.Backend.List(ctx, kind, span, n)
}

// plain hides what a Backend can do besides.
type plain struct{ driver.Backend }

// eachWay runs a test of a store that reads several documents at once, and of one that reads them one by one.
func eachWay(t *testing.T, test func(t *testing.T, s *storage.Store, calls func() int)) {
	t.Run("at once", func(t *testing.T) {
		b := &asks{Backend: memory.New()}
		test(t, opened(t, b, storage.NewMasterKey()), func() int {
			defer func() { b.gathered, b.single = 0, 0 }()
			return b.gathered + b.single
		})
	})
	t.Run("one by one", func(t *testing.T) {
		test(t, opened(t, plain{memory.New()}, storage.NewMasterKey()), nil)
	})
}

func TestApplicationsAndUsersAreReadInOneCall(t *testing.T) {
	eachWay(t, func(t *testing.T, s *storage.Store, calls func() int) {
		var subs, ids []string
		for i := range 3 {
			u, err := s.CreateUser(t.Context(), storage.User{Username: fmt.Sprint("user-", i)})
			a, err2 := s.SaveApp(t.Context(), storage.App{Name: fmt.Sprint("Shop ", i), Domains: []string{"a.example.com"},
				Secrets: []storage.AppSecret{{Secret: storage.DrawSecret()}}})
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			subs, ids = append(subs, u.Sub), append(ids, a.ID)
		}
		asked := append([]string{ids[2], "nobody", "\xff", "", ids[0]}, ids[2])
		for round := range 2 { // decoded, and remembered
			if calls != nil {
				calls()
			}
			apps, users, err := s.AppsAndUsers(t.Context(), asked, subs[1:])
			if err != nil || len(apps) != 2 || len(users) != 2 || apps[0].ID > apps[1].ID || users[0].Sub > users[1].Sub {
				t.Fatalf("AppsAndUsers = %v, %v, %v", apps, users, err)
			}
			if calls != nil && calls() != 1 {
				t.Error("they take more than one call")
			}
			for _, a := range apps {
				whole, err := s.App(t.Context(), a.ID)
				if err != nil || a.Version == 0 || fmt.Sprint(a) != fmt.Sprint(whole) || len(a.Secrets) != 1 ||
					a.Secrets[0].Secret.Reveal() != whole.Secrets[0].Secret.Reveal() {
					t.Errorf("%+v is not %+v", a, whole)
				}
				a.Domains[0] = "spoilt"
			}
			if users[0].Username == "" {
				t.Errorf("round %d: %+v", round, users[0])
			}
		}
		u, err := s.User(t.Context(), subs[1])
		if u.Nickname = "new"; err == nil {
			u, err = s.SaveUser(t.Context(), u)
		}
		if _, users, err2 := s.AppsAndUsers(t.Context(), nil, []string{u.Sub}); errors.Join(err, err2) != nil ||
			len(users) != 1 || !reflect.DeepEqual(users[0], u) {
			t.Errorf("after a change it is %v, %v, %v", users, err, err2)
		}
		if apps, users, err := s.AppsAndUsers(t.Context(), nil, nil); err != nil || len(apps)+len(users) > 0 {
			t.Errorf("of nobody: %v, %v, %v", apps, users, err)
		}
		if _, _, err := s.AppsAndUsers(t.Context(), nil, manyNames(driver.Page+1)); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("too many: %v", err)
		}
	})
}

func manyNames(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("u%030d", i))
	}
	return all
}

func TestGrantsOfAUserAreAllOfThemAndNobodyElses(t *testing.T) {
	eachWay(t, func(t *testing.T, s *storage.Store, calls func() int) {
		eve, err := s.CreateUser(t.Context(), storage.User{Username: "eve"})
		if err != nil {
			t.Fatal(err)
		}
		grant := func(app, sub string) {
			_, err := s.SaveConsent(t.Context(), storage.Consent{AppID: app, UserID: sub, Scope: "openid"})
			_, err2 := s.EnsureOpenID(t.Context(), app, sub)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
		}
		grant("other", eve.Sub+"x")
		for _, few := range []bool{true, false} {
			n, last := 3, 1
			if !few {
				n, last = 700, 3
			}
			for i := range n {
				grant(fmt.Sprintf("%d-%04d", n, i), eve.Sub)
			}
			if calls != nil {
				calls()
			}
			u, given, met, err := s.UserGrants(t.Context(), eve.Sub)
			if err != nil || u.Sub != eve.Sub {
				t.Fatal(u, err)
			}
			if calls != nil && calls() > last {
				t.Errorf("%d grants take more than %d calls", n, last)
			}
			all, err := s.Consents(t.Context(), eve.Sub)
			if err != nil || fmt.Sprint(all) != fmt.Sprint(given) || len(met) != len(given) {
				t.Errorf("%d grants and %d applications, where there are %d, %v", len(given), len(met), len(all), err)
			}
		}
		for _, sub := range []string{"nobody", "", eve.Sub + "x", "\xff", strings.Repeat("x", driver.MaxName)} {
			if u, given, met, err := s.UserGrants(t.Context(), sub); !errors.Is(err, storage.ErrNotFound) || u.Sub != "" ||
				len(given)+len(met) > 0 {
				t.Errorf("grants of %.10q: %v %v %v %v", sub, u, given, met, err)
			}
		}
	})
}

// A record that cannot be read is an error, and not one that is missing.
func TestReadOfSeveralThatFailsIsAnError(t *testing.T) {
	for name, wrap := range map[string]func(driver.Backend) driver.Backend{
		"at once":    func(b driver.Backend) driver.Backend { return &asks{Backend: b} },
		"one by one": func(b driver.Backend) driver.Backend { return plain{b} },
	} {
		s := opened(t, wrap(memory.New()), storage.NewMasterKey())
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		cancel()
		if _, _, err := s.AppsAndUsers(ctx, []string{"a"}, nil); !errors.Is(err, storage.ErrUnavailable) ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, _, err := s.UserGrants(ctx, "a"); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
