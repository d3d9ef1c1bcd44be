package storage_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

func openStore(t *testing.T, backend driver.Backend) *storage.Store {
	t.Helper()
	t.Cleanup(func() { backend.Close() })
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func capabilityOf(owner, member string) storage.Capability {
	return storage.Capability{Member: member, Kind: storage.CapabilityMCP, UpstreamURL: "https://" + owner + ".example",
		Owner: owner, Publish: true}
}

// Decision 61.
func TestMemberNameDiffersByMoreThanCaseDashesAndUnderscores(t *testing.T) {
	store := openStore(t, memory.New())
	pay, err := store.SaveCapability(t.Context(), capabilityOf("u1", "pay"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, like := range []string{"Pay", "PAY", "pay-", "p_a_y", "P-a_Y", "p--ay"} {
		var taken *storage.NameTaken
		if _, err := store.SaveCapability(t.Context(), capabilityOf("u2", like), nil); !errors.As(err, &taken) ||
			taken.By.Member != "pay" || taken.By.Owner != "u1" {
			t.Errorf("SaveCapability(%s) beside pay = %v, want NameTaken by pay", like, err)
		}
		if _, err := store.Capability(t.Context(), like); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s is stored: %v", like, err)
		}
		if p, err := store.FindPlace(t.Context(), like, ""); err != nil || p.Version != 0 || p.Taken == nil ||
			p.Taken.By.Member != "pay" {
			t.Errorf("FindPlace(%s) = %+v, %v, want it taken by pay", like, p, err)
		}
	}
	if p, err := store.FindPlace(t.Context(), "pay", ""); err != nil || p.Version != pay.Version || p.Taken != nil {
		t.Errorf("FindPlace(pay) = %+v, %v: a name is not like itself", p, err)
	}
	if pay, err = store.SaveCapability(t.Context(), pay, nil); err != nil {
		t.Errorf("pay itself is replaced: %v", err)
	}
	if _, err := store.SaveCapability(t.Context(), capabilityOf("u2", "pay1"), nil); err != nil {
		t.Errorf("another name: %v", err)
	}
	if err := store.DeleteCapability(t.Context(), pay); err != nil {
		t.Fatal(err)
	}
	if _, err := store.SaveCapability(t.Context(), capabilityOf("u1", "PAY"), nil); err != nil {
		t.Errorf("PAY of the same owner, once pay is gone: %v", err)
	}
}

func TestMemberNamesAlikeMadeAtOnceStoreOne(t *testing.T) {
	store := openStore(t, memory.New())
	var all sync.WaitGroup
	var made, taken atomic.Int32
	for _, name := range []string{"pay", "Pay", "PAY", "p-ay", "pa-y", "pay-", "p_ay", "pa_y"} {
		all.Go(func() {
			_, err := store.SaveCapability(t.Context(), capabilityOf("u-"+name, name), nil)
			switch in := (*storage.NameTaken)(nil); {
			case err == nil:
				made.Add(1)
			case errors.As(err, &in):
				taken.Add(1)
			default:
				t.Errorf("SaveCapability(%s) = %v", name, err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 || taken.Load() != 7 {
		t.Errorf("%d are made and %d refused, want 1 and 7", made.Load(), taken.Load())
	}
}

// A capability that an older version has written has no record of its name beside it.
func TestMembersOfAnOlderVersionStayAndHoldTheirNames(t *testing.T) {
	backend := memory.New()
	store := openStore(t, backend)
	old := map[string]storage.Capability{}
	for i, name := range []string{"mail", "Mail"} {
		c, err := store.SaveCapability(t.Context(), capabilityOf("u1", []string{"stand", "in"}[i]), nil)
		if err != nil {
			t.Fatal(err)
		}
		old[name] = renamed(t, backend, store, c, name)
	}
	var taken *storage.NameTaken
	if _, err := store.SaveCapability(t.Context(), capabilityOf("u2", "m-ail"), nil); !errors.As(err, &taken) {
		t.Errorf("m-ail beside two old ones = %v, want NameTaken", err)
	}
	for name, c := range old {
		c, err := store.SaveCapability(t.Context(), c, nil)
		if err != nil {
			t.Fatalf("%s, which collides with another old one, is not replaced: %v", name, err)
		}
		old[name] = c
	}
	if _, err := store.SaveCapability(t.Context(), capabilityOf("u2", "mai-l"), nil); !errors.As(err, &taken) {
		t.Errorf("mai-l, once they were replaced = %v, want NameTaken", err)
	}
	left := []string{"mail", "Mail"}
	for _, name := range []string{"mail", "Mail"} { // whichever of the two has the name, the other keeps it
		if err := store.DeleteCapability(t.Context(), old[name]); err != nil {
			t.Fatalf("%s cannot be removed: %v", name, err)
		}
		left = slices.DeleteFunc(left, func(n string) bool { return n == name })
		_, err := store.SaveCapability(t.Context(), capabilityOf("u1", "MAIL"), nil)
		if isTaken := errors.As(err, &taken); isTaken != (len(left) > 0) {
			t.Errorf("MAIL beside %q = %v", left, err)
		}
	}
}

// A program that knows nothing of the record of a name removes the capability alone.
func TestNameWhoseHolderIsGoneIsFree(t *testing.T) {
	backend := memory.New()
	store := openStore(t, backend)
	holder := "u1"
	for _, again := range []string{"Pay", "pay"} {
		c, err := store.SaveCapability(t.Context(), capabilityOf(holder, "pay"), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"capability", "toolset"} {
			if _, err := backend.Put(t.Context(), driver.Doc{Kind: kind, ID: "pay", Version: c.Version,
				Deleted: true}); err != nil {
				t.Fatal(err)
			}
		}
		c, err = store.SaveCapability(t.Context(), capabilityOf("u2", again), nil)
		if err != nil {
			t.Fatalf("%s, whose holder is gone: %v", again, err)
		}
		var taken *storage.NameTaken
		if _, err := store.SaveCapability(t.Context(), capabilityOf("u3", "P-A-Y"), nil); !errors.As(err, &taken) ||
			taken.By.Member != again {
			t.Errorf("P-A-Y beside %s = %v", again, err)
		}
		if err := store.DeleteCapability(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		holder = "u2"
	}
}

// renamed gives a stored capability another name, as an older version would have written it.
func renamed(t *testing.T, backend driver.Backend, store *storage.Store, c storage.Capability,
	name string) storage.Capability {
	t.Helper()
	var docs []driver.Doc
	for _, kind := range []string{"capability", "toolset"} {
		d, err := backend.Get(t.Context(), kind, c.Member)
		if err != nil {
			t.Fatal(err)
		}
		d.ID, d.Version = name, 0
		d.Data = replaceMember(d.Data, c.Member, name)
		docs = append(docs, d)
	}
	if err := store.DeleteCapability(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Put(t.Context(), docs...); err != nil {
		t.Fatal(err)
	}
	out, err := store.Capability(context.WithoutCancel(t.Context()), name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func replaceMember(data []byte, old, name string) []byte {
	return bytes.Replace(data, []byte(`"member":"`+old+`"`), []byte(`"member":"`+name+`"`), 1)
}

// overtaken is a backend in which somebody else gets through right before a document is put.
type overtaken struct {
	driver.Backend
	mu     sync.Mutex
	id     string
	rivals []func()
}

func (o *overtaken) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	o.mu.Lock()
	var rival func()
	if len(o.rivals) > 0 && slices.ContainsFunc(docs, func(d driver.Doc) bool { return d.ID == o.id }) {
		rival, o.rivals = o.rivals[0], o.rivals[1:]
	}
	o.mu.Unlock()
	if rival != nil {
		rival()
	}
	return o.Backend.Put(ctx, docs...)
}

func TestNameThatIsTakenRightBeforeItIsWrittenIsTaken(t *testing.T) {
	backend := &overtaken{Backend: memory.New(), id: "Pay"}
	store := openStore(t, backend)
	backend.rivals = []func(){func() {
		if _, err := store.SaveCapability(t.Context(), capabilityOf("u1", "pay"), nil); err != nil {
			t.Error(err)
		}
	}}
	var taken *storage.NameTaken
	if _, err := store.SaveCapability(t.Context(), capabilityOf("u2", "Pay"), nil); !errors.As(err, &taken) {
		t.Errorf("SaveCapability(Pay) right after pay = %v, want NameTaken", err)
	}
}

// A name that is new is not looked up for an access list or held tools of an earlier capability: none may be left.
func TestCapabilityThatIsDeletedMeanwhileIsNotWritten(t *testing.T) {
	for name, write := range map[string]func(*storage.Store) error{
		"an access list": func(s *storage.Store) error {
			_, err := s.SaveAccess(t.Context(), access.List{Member: "pay", Rules: []access.Rule{{Subject: "everyone"}}})
			return err
		},
		"held tools": func(s *storage.Store) error {
			_, err := s.SaveHeld(t.Context(), toolplan.Held{Member: "pay", Digest: "x", At: time.Now()})
			return err
		},
	} {
		backend := &overtaken{Backend: memory.New(), id: "pay"}
		store := openStore(t, backend)
		c, err := store.SaveCapability(t.Context(), capabilityOf("u1", "pay"), nil)
		if err != nil {
			t.Fatal(err)
		}
		backend.rivals = []func(){func() {
			if err := store.DeleteCapability(t.Context(), c); err != nil {
				t.Error(err)
			}
		}}
		if err := write(store); !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, storage.ErrConflict) {
			t.Errorf("%s = %v, want it refused", name, err)
		}
		list, err := store.Access(t.Context(), "pay")
		held, err2 := store.Held(t.Context(), "pay")
		if len(list.Rules) > 0 || held.Digest != "" || err != nil || err2 != nil {
			t.Errorf("%s: left are %+v, %v and %+v, %v", name, list, err, held, err2)
		}
	}
}

// saveIf writes a capability that is new if allow returns nil, and reads its place anew when a rival was faster.
func saveIf(t *testing.T, s *storage.Store, c storage.Capability, allow func([]storage.Capability) error) error {
	for {
		p, err := s.FindPlace(t.Context(), c.Member, c.Owner)
		if err == nil {
			_, err = s.SaveAt(t.Context(), p, c, nil, allow)
		}
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) {
			return err
		}
	}
}

func TestMemberNameCountsWhatAnOwnerMakesMeanwhile(t *testing.T) {
	backend := &overtaken{Backend: memory.New(), id: "second"}
	store := openStore(t, backend)
	errFull, requests := errors.New("full"), []int{}
	one := func(owned []storage.Capability) error {
		if requests = append(requests, len(owned)); len(owned) > 0 {
			return errFull
		}
		return nil
	}
	backend.rivals = []func(){func() {
		if err := saveIf(t, store, capabilityOf("u1", "first"), one); err != nil {
			t.Error(err)
		}
	}}
	if err := saveIf(t, store, capabilityOf("u1", "second"), one); !errors.Is(err, errFull) ||
		!slices.Equal(requests, []int{0, 0, 1}) {
		t.Errorf("SaveAt() = %v after it saw %v, want it refused once it sees the other", err, requests)
	}
	if err := saveIf(t, store, capabilityOf("u2", "second"), one); err != nil {
		t.Errorf("another owner's: %v", err)
	}
}
