package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/people"
)

// brings writes the first fact of each feature: a check of this version goes by it, and a
// binary that ignored it would let in what it keeps out.
var brings = map[string]func(context.Context, *storage.Store) error{
	"revocations of consents": func(ctx context.Context, s *storage.Store) error {
		_, err := s.RevokeDated(ctx, driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID("ks1", "u1"),
			Before: time.Now()})
		return err
	},
	"access lists of tools": func(ctx context.Context, s *storage.Store) error {
		if _, err := s.SaveCapability(ctx, storage.Capability{Member: "m"}, nil); err != nil {
			return err
		}
		_, err := s.SaveAccess(ctx, access.List{Member: "m", Rules: []access.Rule{{Subject: "everyone", Deny: true}}})
		return err
	},
	"default access to tools": func(ctx context.Context, s *storage.Store) error {
		return s.Set(ctx, storage.SettingDefaultAccess, storage.AccessOwner)
	},
	"trusted and denied hosts of clients": func(ctx context.Context, s *storage.Store) error {
		_, err := s.SetClientHost(ctx, "agent.example", true)
		return err
	},
	"second factors": func(ctx context.Context, s *storage.Store) error {
		_, err := s.SaveFactors(ctx, storage.Factors{UserID: "u1", Passkeys: []authn.Passkey{{ID: "p"}}})
		return err
	},
	"back-channel logout and user events": func(ctx context.Context, s *storage.Store) error {
		_, err := s.SetUserWebhook(ctx, "https://hook.example/", false)
		return err
	},
	"stored counters and search": func(ctx context.Context, s *storage.Store) error {
		_, err := s.SaveApp(ctx, storage.App{Name: "Shop", Domains: []string{"shop.example.com"}})
		return err
	},
	"API keys of users": func(ctx context.Context, s *storage.Store) error {
		_, err := s.CreateAPIKey(ctx, apikey.Key{ID: handle.Hash("x"), UserID: "u1", Name: "n", Scope: "tools"}, time.Hour)
		return err
	},
	"groups of users": func(ctx context.Context, s *storage.Store) error {
		_, err := s.SaveGroup(ctx, groups.Group{Name: "ops"})
		return err
	},
	"who may use an application": func(ctx context.Context, s *storage.Store) error {
		_, err := s.SaveApp(ctx, storage.App{Name: "App", Domains: []string{"app.example.com"},
			Admission: &access.Admission{Allow: []string{"role:admin"}}})
		return err
	},
	"keys of applications in place of the appkey": func(ctx context.Context, s *storage.Store) error {
		_, err := s.SaveApp(ctx, storage.App{Name: "App", Domains: []string{"app.example.com"},
			Keys: &client.Keys{URL: "https://app.example.com/keys"}})
		return err
	},
	"password hashes of other products": func(ctx context.Context, s *storage.Store) error {
		_, err := s.CreateUsers(ctx, []people.Newcomer{{User: storage.User{Username: "ada"}, By: []storage.Login{{
			Method: storage.LoginSelf, Subject: "ada", PasswordHash: "$2b$04$"}}}}, make([][]groups.Group, 1))
		return err
	},
}

const counting = "stored counters and search"

func featuresOf(t *testing.T, s *storage.Store) (names []string) {
	t.Helper()
	all, err := s.Features(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name)
		if f.Since == "" {
			t.Errorf("the feature %q does not say which version brought it", f.Name)
		}
	}
	return names
}

func TestBinaryThatWouldIgnoreAFeatureIsRefused(t *testing.T) {
	for _, f := range storage.KnownFeatures() {
		bring := brings[f.Name]
		if bring == nil {
			t.Errorf("nothing here brings the feature %q", f.Name)
			continue
		}
		backend, key := memory.New(), storage.NewMasterKey()
		t.Cleanup(func() { backend.Close() })
		without := slices.DeleteFunc(storage.KnownFeatures(),
			func(known storage.Feature) bool { return known.Name == f.Name })
		if _, err := storage.OpenKnowing(t.Context(), backend, without, key); err != nil {
			t.Errorf("%s: a version without it does not open a store without it: %v", f.Name, err)
		}
		s, err := storage.Open(t.Context(), backend, key)
		if err != nil {
			t.Fatal(err)
		}
		if names := featuresOf(t, s); len(names) != 0 {
			t.Errorf("%s: opening the store brings %q", f.Name, names)
		}
		for range 2 {
			if err := bring(t.Context(), s); err != nil && !errors.Is(err, storage.ErrExists) {
				t.Fatal(err)
			}
		}
		names := featuresOf(t, s)
		if f.Name != counting { // a record that is counted brings that feature too
			names = slices.DeleteFunc(names, func(name string) bool { return name == counting })
		}
		if !slices.Equal(names, []string{f.Name}) {
			t.Errorf("%s: the store lists %q", f.Name, names)
		}
		_, err = storage.OpenKnowing(t.Context(), backend, without, key)
		refusedAsNewer(t, err, f.Name, f.Since)
		if _, err := storage.Open(t.Context(), backend, key); err != nil {
			t.Errorf("%s: a version that knows it = %v, want nil", f.Name, err)
		}
	}
}

func refusedAsNewer(t *testing.T, err error, want ...string) {
	t.Helper()
	if !errors.Is(err, storage.ErrNewer) {
		t.Fatalf("Open = %v, want ErrNewer", err)
	}
	for _, text := range append(want, "newer version of Keystile", "use that version",
		"the backup made before the upgrade") {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("Open = %v, want it to say %q", err, text)
		}
	}
}

// plantFeature lists a feature of the future, with a field of the future.
func plantFeature(t *testing.T, b driver.Backend) {
	t.Helper()
	d, err := b.Get(t.Context(), "format", "features")
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	var f struct {
		Features []map[string]string `json:"features"`
		Of       string              `json:"of"`
	}
	if d.Data != nil {
		if err := json.Unmarshal(d.Data, &f); err != nil {
			t.Fatal(err)
		}
	}
	f.Of, f.Features = "later",
		append(f.Features, map[string]string{"name": "time travel", "since": "v9.7.0", "why": "because"})
	text, _ := json.Marshal(f)
	if _, err := b.Put(t.Context(), driver.Doc{Kind: "format", ID: "features", Version: d.Version,
		Data: text}); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownFeatureIsRefusedByName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keystile.db")
	onDisk, err := bolt.Open(file, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]driver.Backend{"memory": memory.New(), "bolt": onDisk} {
		t.Cleanup(func() { b.Close() })
		key := storage.NewMasterKey()
		s, err := storage.Open(t.Context(), b, key)
		if err != nil {
			t.Fatal(err)
		}
		plantFeature(t, b)
		if err := s.Set(t.Context(), storage.SettingDefaultAccess, storage.AccessOwner); err != nil {
			t.Fatal(err)
		}
		_, err = storage.Open(t.Context(), b, key)
		refusedAsNewer(t, err, `"time travel"`, "v9.7.0")
		_, err = storage.Open(t.Context(), b, storage.NewMasterKey()) // what is wrong with the key is not the news
		refusedAsNewer(t, err, `"time travel"`)
		d, err := b.Get(t.Context(), "format", "features")
		for _, want := range []string{`"why":"because"`, `"of":"later"`, "default access to tools"} {
			if err != nil || !strings.Contains(string(d.Data), want) {
				t.Errorf("%s: the list is %s, %v, want %s in it", name, d.Data, err, want)
			}
		}
	}
}

func TestProcessesThatBringFeaturesAtOnceLoseNone(t *testing.T) {
	backend, key := memory.New(), storage.NewMasterKey()
	t.Cleanup(func() { backend.Close() })
	var all sync.WaitGroup
	for range 8 {
		for _, bring := range brings {
			s, err := storage.Open(t.Context(), backend, key)
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				if err := bring(t.Context(), s); err != nil && !errors.Is(err, storage.ErrConflict) &&
					!errors.Is(err, storage.ErrExists) {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	s, err := storage.Open(t.Context(), backend, key)
	if err != nil {
		t.Fatal(err)
	}
	if names := featuresOf(t, s); len(names) != len(brings) {
		t.Errorf("the store lists %q, want each of %d once", names, len(brings))
	}
}

// noFormat is a disk that takes everything but the list.
type noFormat struct{ driver.Backend }

func (n noFormat) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if docs[0].Kind == "format" {
		return 0, errors.New("disk full")
	}
	return n.Backend.Put(ctx, docs...)
}

func TestFeaturesWriteOnlyWhatIsOnTheList(t *testing.T) {
	for name, bring := range brings {
		backend := memory.New()
		t.Cleanup(func() { backend.Close() })
		s, err := storage.Open(t.Context(), noFormat{backend}, storage.NewMasterKey())
		if err != nil {
			t.Fatal(err)
		}
		if err := bring(t.Context(), s); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", name, err)
		}
		rs, _ := s.Revocations(t.Context(), 0, 9)
		lists, _, _ := s.AccessLists(t.Context(), "", 9)
		value, _ := s.Setting(t.Context(), storage.SettingDefaultAccess)
		if len(rs) != 0 || len(lists) != 0 || value != "" {
			t.Errorf("%s was written without being on the list", name)
		}
	}
}

func TestProcessLearnsThatANewerOneHasJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, backend := open(t)
		ctx, stop := context.WithCancel(t.Context())
		got, done := make(chan error, 9), make(chan struct{})
		go func() { s.SweepEvery(ctx, time.Minute, func(err error) { got <- err }); close(done) }()
		synctest.Wait()
		if len(got) != 0 {
			t.Errorf("it says %v of a store of its own version", <-got)
		}
		plantFeature(t, backend)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(got) != 1 {
			t.Fatalf("it says %d things, want one", len(got))
		}
		refusedAsNewer(t, <-got, "time travel")
		stop()
		<-done
	})
}
