package storage

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
)

func TestHandleCarriesItsTimeIntoItsKey(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 42, time.UTC)
	for _, prefix := range []string{"", handle.RefreshPrefix} {
		h := handle.New(prefix, at)
		k := handle.KeyOf(h)
		if !strings.HasPrefix(h, prefix) || len(h) != len(prefix)+43 {
			t.Errorf("NewHandle = %q, want %s and 43 characters", h, prefix)
		}
		if got := int64(binary.BigEndian.Uint64(k[:8])); got != at.UnixNano() {
			t.Errorf("key begins with %d, want %d", got, at.UnixNano())
		}
		if handle.KeyOf(h) != k || handle.KeyOf(h+"A") == k || handle.KeyOf(h[:len(h)-1]) == k ||
			handle.KeyOf(handle.New(prefix, at)) == k {
			t.Error("a key belongs to more than one handle")
		}
	}
	if k := handle.KeyOf("0123456789abcdef0123456789abcdef"); [8]byte(k[:8]) != [8]byte{} {
		t.Errorf("key of a legacy code begins with %x, want zeros", k[:8])
	}
	handle.KeyOf(strings.Repeat("x", 1<<20))
}

func TestGrantCarriesItsTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 42, time.UTC)
	if got := handle.GrantTime(handle.NewGrant(at)); !got.Equal(at) {
		t.Errorf("GrantTime = %v, want %v", got, at)
	}
	for _, text := range []string{"", "x", handle.New("", at)} {
		if got := handle.GrantTime(text); !got.IsZero() {
			t.Errorf("GrantTime(%q) = %v, want zero", text, got)
		}
	}
}

func TestRevocationCoversWhatItNames(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	token := driver.Token{Grant: "g", AppID: "a", UserID: "u", GrantedAt: noon}
	for _, c := range []struct {
		r    driver.Revocation
		want bool
	}{
		{driver.Revocation{Kind: driver.RevokeGrant, ID: "g"}, true},
		{driver.Revocation{Kind: driver.RevokeGrant, ID: "other"}, false},
		{driver.Revocation{Kind: driver.RevokeUser, ID: "u", Before: noon.Add(1)}, true},
		{driver.Revocation{Kind: driver.RevokeUser, ID: "u", Before: noon}, false},
		{driver.Revocation{Kind: driver.RevokeUser, ID: "a", Before: noon.Add(1)}, false},
		{driver.Revocation{Kind: driver.RevokeApp, ID: "a", Before: noon.Add(1)}, true},
		{driver.Revocation{Kind: driver.RevokeApp, ID: "a", Before: noon}, false},
		{driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID("a", "u"), Before: noon.Add(1)}, true},
		{driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID("a", "u"), Before: noon}, false},
		{driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID("u", "a"), Before: noon.Add(1)}, false},
		{driver.Revocation{Kind: driver.RevokeJTI, ID: "g"}, false},
	} {
		if got := c.r.Covers(token); got != c.want {
			t.Errorf("%+v covers: %t, want %t", c.r, got, c.want)
		}
	}
}

func TestCountsStopAtTheLargestNumber(t *testing.T) {
	c := driver.Count{Calls: math.MaxInt64 - 1, Errors: 1}.Plus(driver.Count{Calls: 5, Errors: 2})
	if c.Calls != math.MaxInt64 || c.Errors != 3 {
		t.Errorf("Plus = %+v, want the largest number and 3", c)
	}
}

func TestCheckPutRefusesWhatNoStoreCanKeep(t *testing.T) {
	many := make([]driver.Doc, driver.MaxPut+1)
	for i := range many {
		many[i] = driver.Doc{Kind: "k", ID: strings.Repeat("x", i+1)}
	}
	for name, docs := range map[string][]driver.Doc{
		"one document twice": {{Kind: "k", ID: "1"}, {Kind: "k", ID: "1", Version: 3, Deleted: true}},
		"too many":           many,
		"no kind":            {{ID: "1"}},
		"no id":              {{Kind: "k"}},
		"a separator":        {{Kind: "k", ID: "a\x1fb"}},
		"a zero byte":        {{Kind: "k", ID: "a\x00b"}},
		"no UTF-8":           {{Kind: "k", ID: "\xff"}},
		"a bad entry":        {{Kind: "k", ID: "1", Index: []string{"ok", "a\x1fb"}}},
		"too much data":      {{Kind: "k", ID: "1", Data: make([]byte, driver.MaxData+1)}},
		"too many entries":   {{Kind: "k", ID: "1", Index: make([]string, driver.MaxIndex+1)}},
		"a blind removal":    {{Kind: "k", ID: "1", Deleted: true}},
		"a negative version": {{Kind: "k", ID: "1", Version: -1}},
	} {
		if err := driver.CheckPut(docs...); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: CheckPut = %v, want ErrInvalid", name, err)
		}
	}
	if err := driver.CheckPut(many[:driver.MaxPut]...); err != nil {
		t.Errorf("CheckPut of %d documents = %v, want nil", driver.MaxPut, err)
	}
}

func TestSecretsOfAnAppAreLiveUntilTheyExpire(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	a := App{Secrets: []AppSecret{{Secret: NewSecret("new")}, {Secret: NewSecret("old"), ExpiresAt: now}}}
	for text, want := range map[string]bool{"new": true, "old": false, "": false, "other": false} {
		if got := a.Authenticates(text, now); got != want {
			t.Errorf("Authenticates(%q) = %t, want %t", text, got, want)
		}
	}
	if !a.Authenticates("old", now.Add(-1)) {
		t.Error("the old secret is dead before it expires")
	}
	a.Public = true
	if a.Authenticates("new", now) {
		t.Error("a public application authenticates by secret")
	}
}

func TestRevocationNeverShrinks(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	early, late := driver.Revocation{Before: noon, Until: noon}, driver.Revocation{Before: noon.Add(1), Until: noon.Add(1)}
	if a, b := early.Join(late), late.Join(early); a != late || b != late {
		t.Errorf("Join = %v and %v, want the later of both", a, b)
	}
	endless := driver.Revocation{Before: noon}
	if a, b := endless.Join(late), late.Join(endless); !a.Until.IsZero() || !b.Until.IsZero() {
		t.Errorf("Join with an endless one ends at %v and %v, want never", a.Until, b.Until)
	}
}
