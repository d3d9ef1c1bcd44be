package nodes

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// sweeping makes a node do the work that runs beside the requests.
func sweeping(c *keystile.Config, _ *link) {
	c.Tokens.SweepEvery = time.Minute
}

// made returns how often a method was called since it was asked last.
func (l *link) made(method string) int {
	l.state.Lock()
	defer l.state.Unlock()
	defer delete(l.calls, method)
	return l.calls[method]
}

func TestServicesJoinAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		a, b, c := all.node(), all.node(), all.node()
		wait(3 * time.Second)
		for _, n := range []*node{a, b, c} {
			if live := n.Nodes.Live(); live != 3 {
				t.Errorf("of three services one knows %d", live)
			}
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait(3 * time.Second)
		if live := a.Nodes.Live(); live != 2 {
			t.Errorf("after one has left there are %d", live)
		}
		b.link.away("", errAway)
		wait(12 * time.Second)
		if here, there := a.Nodes.Live(), b.Nodes.Live(); here != 1 || there != 2 {
			t.Errorf("with one cut off, the others count %d and it counts %d, want 1 and 2", here, there)
		}
		b.link.away("", nil) // or it would never have stored what its Close stores
		if alone := all.node(single); alone.Nodes.Live() != 1 {
			t.Errorf("one that shares its store with nobody counts %d", alone.Nodes.Live())
		}
	})
}

func TestSweepIsDoneByOneServiceAndAnotherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		nodes := []*node{all.node(sweeping)}
		wait(time.Second) // or another one may be faster to take the lease
		nodes = append(nodes, all.node(sweeping), all.node(sweeping))
		sweeps := func(over time.Duration) (each []int) {
			for _, n := range nodes {
				n.link.made("Sweep")
			}
			wait(over)
			for _, n := range nodes {
				each = append(each, n.link.made("Sweep"))
			}
			return each
		}
		if each := sweeps(10 * time.Minute); each[0] != 10 || each[1]+each[2] != 0 {
			t.Errorf("in ten minutes the three have swept %v times, want [10 0 0]", each)
		}
		nodes[0].link.away("", errAway)
		if each := sweeps(3 * time.Minute); each[0] != 0 || each[1]+each[2] == 0 {
			t.Errorf("within three minutes after the sweeper has died: %v, want one of the others", each)
		}
		nodes[0].link.away("", nil)
		if each := sweeps(10 * time.Minute); each[0] != 0 || each[1]+each[2] != 10 || each[1]*each[2] != 0 {
			t.Errorf("once it is back: %v in ten minutes, want 10 of the one that has taken over", each)
		}
		if err := nodes[1].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := nodes[2].Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if each := sweeps(time.Minute); each[0] == 0 {
			t.Error("after the others have left, the last one waits for more than a minute")
		}
	})
}

// A sweeper is paused in the middle, another one takes over, and the first one goes on.
func TestSweepByTwoAtOnceRemovesOnlyWhatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		first := all.node(sweeping)
		wait(time.Second) // or the second one may be faster to take the lease
		second := all.node(sweeping)
		now := time.Now()
		ticket := func(id string, ends time.Duration) {
			must(first.Store.SaveTicket(t.Context(), storage.Ticket{ID: id, Kind: "test", CreatedAt: now,
				ExpiresAt: now.Add(ends)}))(t)
		}
		for i := range 20 {
			ticket(fmt.Sprint("short", i), time.Minute)
			ticket(fmt.Sprint("long", i), 50*time.Minute)
		}
		release := first.link.hanging("Sweep")
		wait(10 * time.Minute)
		if _, err := second.Store.Ticket(t.Context(), "short1"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("nobody has taken over from a sweeper that was paused: %v", err)
		}
		release()
		wait(10 * time.Minute)
		for i := range 20 {
			must(second.Store.Ticket(t.Context(), fmt.Sprint("long", i)))(t)
		}
		first.link.made("Sweep")
		second.link.made("Sweep")
		wait(10 * time.Minute)
		if a, b := first.link.made("Sweep"), second.link.made("Sweep"); a != 0 || b != 10 {
			t.Errorf("afterwards they sweep %d and %d times in ten minutes, want 0 and 10", a, b)
		}
	})
}

// A keeper is paused before it looks, before it saves the checkpoint, or before it removes what is
// behind it.
func TestTrailIsPrunedOnceWhoeverIsPaused(t *testing.T) {
	for _, at := range []string{"", "Appended", "the checkpoint", "Prune"} {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newCluster(t)
				small := func(c *keystile.Config, _ *link) { c.Trail.MaxBytes = 8000 }
				first := all.node(small)
				wait(time.Second) // the first one has the lease
				second := all.node(small)
				bearer := first.bearer()
				release := func() {}
				if at != "" {
					release = first.link.hanging(at)
				}
				for range 25 {
					first.get("/ai/x", bearer)
					second.get("/ai/x", bearer)
					wait(time.Second)
				}
				wait(5 * time.Minute)
				if took := second.link.made("the checkpoint") + second.link.made("Prune"); (took > 0) != (at != "") {
					t.Errorf("the second one has pruned the trail %d times", took)
				}
				release()
				wait(3 * time.Minute)
				report := must(audit.Verify(t.Context(), second.Store))(t)
				if r := report.Removed; report.Broken > 0 || r.Through == 0 || r.Removed != r.Through || r.Prunes != 1 {
					t.Errorf("the trail is %+v", report)
				}
				if n := first.log.lines("old audit records were removed") +
					second.log.lines("old audit records were removed"); n < 1 {
					t.Error("nobody says that records were removed")
				}
			})
		})
	}
}

// Two administrators settle an order at once at two nodes, and it is settled once.
func TestOrderIsSettledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		nodes := []*node{all.node(), all.node(), all.node()}
		price := nodes[0].Gateway.Billing().Plan(storage.TierWhiteLabel).PriceFen
		order, _, err := nodes[0].Gateway.Billing().Order(t.Context(), all.app.ID, storage.TierWhiteLabel, "ada", nil)
		if err != nil || price == 0 {
			t.Fatal(price, err)
		}
		var won, lost int
		var mu sync.Mutex
		var work sync.WaitGroup
		for i := range 30 {
			work.Go(func() {
				_, err := nodes[i%3].Gateway.Billing().Approve(t.Context(), order.ID, "root", time.Time{}, nil)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won++
				case errors.Is(err, storage.ErrInvalid), errors.Is(err, storage.ErrUnavailable),
					errors.Is(err, storage.ErrConflict):
					lost++
				default:
					t.Error(err)
				}
			})
		}
		work.Wait()
		if won != 1 || lost != 29 {
			t.Errorf("%d approvals succeeded and %d did not, want 1 and 29", won, lost)
		}
		wait(time.Second)
		for _, n := range nodes {
			s := must(n.Gateway.Billing().Settle(t.Context(), must(n.Store.App(t.Context(), all.app.ID))(t), time.Now()))(t)
			if s.Subscription != price {
				t.Errorf("a node settles %d fen, want %d", s.Subscription, price)
			}
		}
	})
}

// A key that is retired is published until all that it has signed has expired, whoever sweeps.
func TestRetiredKeyIsNotDroppedEarlyByAnyNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		a, b := all.node(sweeping), all.node(sweeping)
		bearer := a.bearer() // lives for less than an hour
		var work sync.WaitGroup
		var failed []error
		var mu sync.Mutex
		for _, n := range []*node{a, b} { // of two rotations at once one wins
			work.Go(func() {
				if _, err := token.Rotate(t.Context(), n.Store, token.ES256, time.Hour); err != nil {
					mu.Lock()
					defer mu.Unlock()
					failed = append(failed, err)
				}
			})
		}
		work.Wait()
		retired := 0
		keys := must(a.Store.SigningKeys(t.Context()))(t)
		for _, k := range keys {
			if k.State == storage.KeyRetired {
				retired++
			}
		}
		if retired+len(failed) != 2 || len(keys) != 2+retired {
			t.Errorf("after two rotations at once %d keys are retired of %d, and %v", retired, len(keys), failed)
		}
		for minute := range 59 {
			wait(time.Minute)
			if w := b.get("/oauth/jwks", ""); strings.Count(w.Body.String(), `"kid"`) != len(keys) {
				t.Fatalf("after %d minutes the key set is %s", minute+1, w.Body)
			}
			if minute < 10 {
				a.want(200, bearer, "signed by the retired key")
				b.want(200, bearer, "signed by the retired key")
			}
		}
		wait(5 * time.Minute)
		for _, n := range []*node{a, b} {
			if w := n.get("/oauth/jwks", ""); strings.Count(w.Body.String(), `"kid"`) != 2 {
				t.Errorf("when it has ended the key set is %s", w.Body)
			}
		}
	})
}
