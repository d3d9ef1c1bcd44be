package passwords

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/argon2"
)

const (
	composed   = "fünf Bäume"             // as a keyboard on Windows writes it
	decomposed = "fu\u0308nf Ba\u0308ume" // as one on macOS may
	wide       = "ｃｏｒｒｅｃｔ\u3000ｈｏｒｓｅ１２３"  // as a Chinese input method does
	narrow     = "correct horse123"
)

// earlier makes the hash of a password as a version before normalization did.
func earlier(p *Hasher, password string) string {
	h := p.draw()
	h.key = argon2.IDKey([]byte(password), h.salt, h.cost.Passes, h.cost.Memory, h.threads, keySize)
	return h.String()
}

// NIST SP 800-63B 5.1.1.2.
func TestPasswordIsTheSameOnEachKeyboard(t *testing.T) {
	p, ctx := New(Cost{Memory: 64, Passes: 1}), context.Background()
	for _, same := range [][]string{{composed, decomposed}, {wide, narrow}, {"ﬁnding ½ of it", "finding 1⁄2 of it"}} {
		for _, set := range same {
			hash, err := p.Hash(ctx, set)
			noError(t, err)
			for _, typed := range same {
				if ok, stale, err := p.Verify(ctx, hash, typed); !ok || stale || err != nil {
					t.Errorf("set as %+q, typed as %+q: %v, %v, %v, want true, false, nil", set, typed, ok, stale, err)
				}
			}
			if ok, _, err := p.Verify(ctx, hash, set+"\u0308"); ok || err != nil {
				t.Errorf("with one more sign: %v, %v", ok, err)
			}
		}
	}
}

func TestHashOfAnEarlierVersionIsFoundAndStale(t *testing.T) {
	p, ctx := New(Cost{Memory: 64, Passes: 1}), context.Background()
	for _, set := range []string{decomposed, wide} {
		if ok, stale, err := p.Verify(ctx, earlier(p, set), set); !ok || !stale || err != nil {
			t.Errorf("%+q: %v, %v, %v, want true, true, nil", set, ok, stale, err)
		}
		if ok, _, err := p.Verify(ctx, earlier(p, set), set+"x"); ok || err != nil {
			t.Errorf("%+q with one letter more: %v, %v", set, ok, err)
		}
	}
	for _, set := range []string{composed, narrow} {
		if ok, stale, err := p.Verify(ctx, earlier(p, set), set); !ok || stale || err != nil {
			t.Errorf("%+q, which is normal: %v, %v, %v, want true, false, nil", set, ok, stale, err)
		}
	}
}

// The work for an answer does not tell whether a user exists.
func TestPasswordThatIsWrongCostsTheSameWhoeverItIsFor(t *testing.T) {
	ctx := context.Background()
	hash, err := New(Cost{Memory: 64, Passes: 1}).Hash(ctx, "another one")
	noError(t, err)
	for typed, want := range map[string]int64{
		"correct horse": 1, composed: 1, decomposed: 2, wide: 2, "": 1, strings.Repeat("ｘ", 2000): 1, "\xff\xfe": 1,
	} {
		for whose, hash := range map[string]string{"a user's": hash, "nobody's": ""} {
			var n atomic.Int64
			p := counting(&n)
			if ok, _, err := p.Verify(ctx, hash, typed); ok || err != nil || n.Load() != want {
				t.Errorf("%.20q is %s: %v, %v after %d hashes, want %d", typed, whose, ok, err, n.Load(), want)
			}
		}
	}
}

func TestPasswordInTwoUnicodeFormsIsOneAttempt(t *testing.T) {
	weightAfter := func(typed ...string) int {
		p := New(Cost{Memory: 64, Passes: 1})
		ctx := AsUnknownClient(context.Background(), netip.MustParseAddr("192.0.2.1"))
		for _, wrong := range typed {
			if ok, _, err := p.Verify(ctx, "", wrong); ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		client, _ := unknownClient(ctx)
		return p.queue.history.Weight(p.queue.history.Around(client))
	}
	two, three := weightAfter(narrow, narrow), weightAfter(narrow, narrow, narrow)
	if got := weightAfter(narrow, decomposed); got != two || two == three {
		t.Errorf("two attempts, one of them in two forms, weigh %d; two weigh %d and three %d", got, two, three)
	}
}

func TestPasswordIsMeasuredInTheFormThatIsHashed(t *testing.T) {
	for promise, c := range map[string]struct {
		password string
		known    []string
		want     error
	}{
		"1,024 letters in full width":             {strings.Repeat("ｘ", 1024), nil, nil},
		"1,025":                                   {strings.Repeat("ｘ", 1025), nil, errLong},
		"one sign that is 18":                     {strings.Repeat("\ufdfa", 57), nil, errLong},
		"more than is normalized":                 {strings.Repeat("a\u0308", 2000), nil, errLong},
		"four letters and four signs":             {"a\u0308o\u0308u\u0308e\u0308", nil, errShort},
		"a common one in full width":              {"ｐａｓｓｗｏｒｄ", nil, errCommon},
		"the username in full width":              {"ｐｅｎｅｌｏｐｅｉａ", []string{"penelopeia"}, errKnown},
		"a username that is decomposed, composed": {"müllerin", []string{"mu\u0308llerin@example.com"}, errKnown},
	} {
		if err := Check(c.password, c.known...); err != c.want {
			t.Errorf("%s: Check() = %v, want %v", promise, err, c.want)
		}
	}
}
