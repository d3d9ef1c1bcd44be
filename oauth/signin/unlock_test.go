package signin

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

// unnamed are Users who do not tell the user of a name.
type unnamed struct{ blockingUsers }

// Decision 56.
func TestAccountThatWaitsIsToldAndLetInAgain(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"by user": nil,
		"by name": func(c *Config) { c.Users = hostOf(new(unnamed)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			rm, ctx := newFixture(t, change), context.Background()
			mina := storage.User{Sub: "u1", Username: "mina"}
			if change == nil {
				mina = rm.mina
			}
			if until, known := rm.WaitUntil(ctx, mina); !until.IsZero() || !known || rm.UnlockUser(ctx, mina) {
				t.Errorf("%s: at first it waits until %v, %v", name, until, known)
			}
			rm.delayed("mina")
			if until, known := rm.WaitUntil(ctx, mina); !until.Equal(time.Now().Add(time.Second)) || !known {
				t.Errorf("%s: after ten failures it waits until %v, %v", name, until, known)
			}
			if a := rm.do(guess("mina", password, 0)); a.Code != http.StatusTooManyRequests {
				t.Errorf("%s: an attempt is %d, want 429", name, a.Code)
			}
			if until, _ := rm.WaitUntil(ctx, storage.User{Sub: "u2", Username: "omar"}); !until.IsZero() {
				t.Errorf("%s: another account waits until %v", name, until)
			}
			if !rm.UnlockUser(ctx, mina) || rm.UnlockUser(ctx, mina) {
				t.Errorf("%s: it does not say, once, that there were failures", name)
			}
			if until, known := rm.WaitUntil(ctx, mina); !until.IsZero() || !known {
				t.Errorf("%s: let in again, it waits until %v, %v", name, until, known)
			}
			if a := rm.do(guess("mina", password, 201)); a.Code != http.StatusFound && a.Code != http.StatusSeeOther {
				t.Errorf("%s: let in again, it is %d", name, a.Code)
			}
		})
	}
}

// away are Accounts that cannot be read.
type away struct{ counters.Accounts }

func (away) Wait(context.Context, [32]byte) (time.Duration, bool) { return 0, false }

func TestWaitThatCannotBeReadIsNotKnown(t *testing.T) {
	rm := newFixture(t, func(c *Config) { c.Delays = away{counters.NewAccounts()} })
	if until, known := rm.WaitUntil(t.Context(), rm.mina); known || !until.IsZero() {
		t.Errorf("it is %v, %v", until, known)
	}
}
