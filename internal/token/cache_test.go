package token

import (
	"strconv"
	"testing"
)

func TestCacheIsBounded(t *testing.T) {
	for _, size := range []int{1, 128, 1000, 10_000} {
		c := newCache(size)
		for i := range 3 * size {
			c.Put(strconv.Itoa(i), &passed{})
		}
		if n := remembered(&Verifier{cache: c}); n > max(size, 128) {
			t.Errorf("a cache of %d holds %d tokens", size, n)
		}
	}
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	c := newCache(1000)
	used := "used"
	c.Put(used, &passed{kid: "used"})
	for i := range 100_000 {
		c.Put(strconv.Itoa(i), &passed{})
		// An entry that is not asked for is gone after 16 others of its set, of 62, at the earliest: 10
		// others never are so many.
		if i%10 == 0 {
			if p, ok := c.Get(used); !ok || p.kid != "used" {
				t.Fatalf("after %d others the token in use is gone", i)
			}
		}
	}
	if _, ok := c.Get("0"); ok {
		t.Error("after 100,000 others a token that nobody used is still there")
	}
}

func TestHitAllocatesNothing(t *testing.T) {
	v, _ := verifier(t, ES256)
	bearer := mint(t, v.keys, nil)
	n := testing.AllocsPerRun(100, func() {
		if _, err := v.Verify(t.Context(), bearer); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("Verify(remembered) = %v allocations, want none", n)
	}
}
