package passwords

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// From the tests of the reference implementation (phc-winner-argon2, src/test.c).
func TestHashMadeElsewhereIsRead(t *testing.T) {
	p := New(Cost{})
	for _, hash := range []string{
		"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
	} {
		if ok, stale, err := p.Verify(context.Background(), hash, "password"); !ok || !stale || err != nil {
			t.Errorf("Verify(%q) = %v, %v, %v, want true, true, nil", hash, ok, stale, err)
		}
	}
}

func TestPasswordIsFoundInItsHash(t *testing.T) {
	p := New(Cost{Memory: 64, Passes: 1})
	ctx := context.Background()
	for _, word := range []string{"correct horse", "", "密码密码密码", strings.Repeat("x", 1024), "a\x00b"} {
		hash, err := p.Hash(ctx, word)
		noError(t, err)
		if ok, stale, err := p.Verify(ctx, hash, word); !ok || stale || err != nil {
			t.Errorf("Verify(its own) = %v, %v, %v, want true, false, nil", ok, stale, err)
		}
		for _, other := range []string{word + " ", word + "\x00", "Correct horse", strings.Repeat("x", 1023)} {
			if ok, _, err := p.Verify(ctx, hash, other); ok || err != nil {
				t.Errorf("Verify(%q) = %v, %v, want false, nil", other, ok, err)
			}
		}
		again, err := p.Hash(ctx, word)
		noError(t, err)
		if again == hash {
			t.Error("two hashes of one password are equal, want a salt")
		}
	}
}

// Decision 20: 19 MiB, 2 passes, 1 lane.
func TestHashCostsWhatItShouldByDefault(t *testing.T) {
	p := New(Cost{})
	p.key = func(_, salt []byte, passes, memory uint32, threads uint8, size uint32) []byte {
		if passes != 2 || memory != 19*1024 || threads != 1 || size != 32 || len(salt) != 16 {
			t.Errorf("argon2id(t=%d, m=%d, p=%d, %d bytes, salt %d), want 2, 19456, 1, 32, 16", passes, memory, threads, size,
				len(salt))
		}
		return make([]byte, size)
	}
	hash, err := p.Hash(context.Background(), "x")
	if want := "$argon2id$v=19$m=19456,t=2,p=1$"; err != nil || !strings.HasPrefix(hash, want) {
		t.Errorf("Hash() = %q, %v, want %q first", hash, err, want)
	}
}

func TestHasherRefusesAnEmptyHashAndTakesAsLong(t *testing.T) {
	var n atomic.Int64
	p := counting(&n)
	for _, word := range []string{"", "x"} {
		if ok, _, err := p.Verify(context.Background(), "", word); ok || err != nil {
			t.Errorf("Verify(no hash, %q) = %v, %v, want false, nil", word, ok, err)
		}
	}
	if n.Load() != 2 {
		t.Errorf("%d computed, want 2", n.Load())
	}
}

func TestHashOfAnotherCostIsReadAndStale(t *testing.T) {
	ctx := context.Background()
	old, err := New(Cost{Memory: 8, Passes: 1}).Hash(ctx, "correct horse")
	noError(t, err)
	for _, cost := range []Cost{{Memory: 16, Passes: 1}, {Memory: 8, Passes: 2}} {
		if ok, stale, err := New(cost).Verify(ctx, old, "correct horse"); !ok || !stale || err != nil {
			t.Errorf("Verify(older) = %v, %v, %v, want true, true, nil", ok, stale, err)
		}
	}
}

func TestHostileHashCostsNothing(t *testing.T) {
	var n atomic.Int64
	p := counting(&n)
	enc := base64.RawStdEncoding.EncodeToString
	salt, key := enc(make([]byte, 16)), enc(make([]byte, 32))
	form := func(params, salt, key string) string {
		return fmt.Sprintf("$argon2id$v=19$%s$%s$%s", params, salt, key)
	}
	for _, hash := range []string{
		"x", "$", "$$$$$", "$2y$10$abcdefghijklmnopqrstuv", form("", salt, key),
		form("m=4294967295,t=1,p=1", salt, key), form("m=262145,t=1,p=1", salt, key), form("m=8,t=17,p=1", salt, key),
		form("m=8,t=0,p=1", salt, key), form("m=8,t=1,p=0", salt, key), form("m=8,t=1,p=17", salt, key),
		form("m=8,t=1,p=256", salt, key),
		form("m=-8,t=1,p=1", salt, key), form("m=08,t=1,p=1", salt, key), form("m=8,t=1,p=1 ", salt, key),
		form("t=1,m=8,p=1", salt, key),
		form("m=8,t=1,p=1", enc(make([]byte, 65)), key), form("m=8,t=1,p=1", salt, enc(make([]byte, 65))),
		form("m=8,t=1,p=1", salt, ""),
		form("m=8,t=1,p=1", "", key), form("m=8,t=1,p=1", salt, "AAAA"), form("m=8,t=1,p=1", salt+"=", key),
		form("m=8,t=1,p=1", salt, key) + "\n",
		strings.Replace(form("m=8,t=1,p=1", salt, key), "v=19", "v=16", 1),
		strings.Replace(form("m=8,t=1,p=1", salt, key), "argon2id", "argon2d", 1),
	} {
		if ok, _, err := p.Verify(context.Background(), hash, "x"); ok || !errors.Is(err, errHash) {
			t.Errorf("Verify(%q) = %v, %v, want errHash", hash, ok, err)
		}
	}
	if n.Load() != 0 {
		t.Errorf("%d computed, want none", n.Load())
	}
}

func TestHashesAtOnceAreAsManyAsProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Cost{})
		var running, most atomic.Int32
		finish := make(chan struct{})
		p.key = func(_, _ []byte, _, _ uint32, _ uint8, size uint32) []byte {
			most.Store(max(most.Load(), running.Add(1)))
			<-finish
			running.Add(-1)
			return make([]byte, size)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var gone atomic.Int32
		var group sync.WaitGroup
		for range 4 * runtime.GOMAXPROCS(0) {
			group.Go(func() {
				if _, err := p.Hash(ctx, "x"); errors.Is(err, context.Canceled) {
					gone.Add(1)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if n := int(running.Load()); n != runtime.GOMAXPROCS(0) || int(gone.Load()) != 3*n {
			t.Errorf("%d computed at once and %d gave up waiting, want %d and %d", n, gone.Load(), runtime.GOMAXPROCS(0), 3*n)
		}
		close(finish)
		group.Wait()
	})
}

// counting hashes fast and counts.
func counting(n *atomic.Int64) *Hasher {
	p := New(Cost{Memory: 8, Passes: 1})
	compute := p.key
	p.key = func(password, salt []byte, passes, memory uint32, threads uint8, size uint32) []byte {
		n.Add(1)
		return compute(password, salt, passes, memory, threads, size)
	}
	return p
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
