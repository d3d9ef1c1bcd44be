package reqctx

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestIDIsTakenIfAnyLogCanHoldItElseDrawn(t *testing.T) {
	for given, taken := range map[string]bool{
		"a": true, "A-z_0.9": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "a b": false, "a\"b": false, "ä": false, "a/b": false, "a\x00": false,
	} {
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Header.Set(Header, given)
		in, v := Begin(w, r)
		if taken != (v.RequestID == given) || !fits(v.RequestID) {
			t.Errorf("given %q it is %q, want it taken: %t", given, v.RequestID, taken)
		}
		if id := v.RequestID; ID(in.Context()) != id || w.Header().Get(Header) != id || in.Header.Get(Header) != id {
			t.Errorf("id %q: context %q, answered %q, handed on %q", id, ID(in.Context()), w.Header().Get(Header),
				in.Header.Get(Header))
		}
	}
}

func TestRequestIDSentTwiceIsIgnored(t *testing.T) {
	if id := idOf(http.Header{Header: {"a", "b"}}); id == "a" || id == "b" || len(id) != 26 {
		t.Errorf("of two ids it is %q", id)
	}
}

func TestRequestIsBegunOnce(t *testing.T) {
	r, first := Begin(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if _, second := Begin(httptest.NewRecorder(), r); second != first {
		t.Error("a request that is on its way was begun again")
	}
}

func TestRequestIDsAreDistinct(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1_000 {
				id := draw()
				mu.Lock()
				if seen[id] || len(id) != idSize || !fits(id) {
					t.Errorf("drawn %q, before: %t", id, seen[id])
				}
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

func TestTimeGoesOnFromTheBeginningOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, v := Begin(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		began := time.Now()
		time.Sleep(time.Minute)
		if now := v.Now(); !v.Began.Equal(began) || !now.Equal(time.Now()) {
			t.Errorf("begun at %v, now %v, want %v and %v", v.Began, now, began, time.Now())
		}
	})
}
