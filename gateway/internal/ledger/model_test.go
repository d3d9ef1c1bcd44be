package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Events of a ledger, in any order: charges, time, a store that comes and goes, a disk that fills,
// kills. The model is a map; a kill may take only what the disk refused.
func TestLedgerCountsAnyHistoryExactly(t *testing.T) {
	if testing.Short() {
		t.Skip("tries many histories")
	}
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) { history(t, seed, seed%2 == 1 && mapOn != nil) })
	}
}

// model holds how many calls each AppID has, and each row of one: AppID=name, or AppID=name@hour.
type model map[string]int64

func (m model) ofService(product string, n int64) {
	m[By("", OfService)] += n
	m[By("", OfProducts)] += n
	m[By("", OfProducts)+"="+product] += n
}

func (m model) took(product string, at time.Time, took time.Duration) {
	beyond := slices.IndexFunc(Bounds, func(b time.Duration) bool { return took <= b })
	for _, of := range []string{"", product} {
		id := By("", OfLatency(of))
		m[id]++
		m[fmt.Sprintf("%s=%06d@%d", id, Bounds[beyond].Milliseconds(), driver.Hour(at).Unix())]++
	}
}

func history(t *testing.T, seed uint64, mapped bool) {
	random := rand.New(rand.NewPCG(seed, 1))
	s, d, folder := newStore(), &disk{free: -1}, t.TempDir()
	start := func() *Ledger {
		return openedWith(t, Config{Store: s, Path: folder}, func(j *journal) {
			if j.create = d.create; mapped {
				mapOn(j, d)
			}
		})
	}
	l, model := start(), model{}
	for range 200 {
		switch random.IntN(10) {
		default:
			app := "app" + strconv.Itoa(random.IntN(3))
			n := 1 + random.IntN(20)
			charge(t, l, app, n)
			model[app] += int64(n)
			model.ofService("ai", int64(n))
		case 2, 3:
			app, member := "app"+strconv.Itoa(random.IntN(3)), "m"+strconv.Itoa(random.IntN(2))
			tool, user := member+"__t"+strconv.Itoa(random.IntN(2)), "u"+strconv.Itoa(random.IntN(3))
			took := time.Duration(random.ExpFloat64() * float64(100*time.Millisecond))
			at := noon.Add(time.Duration(random.IntN(4)) * time.Hour)
			agent := []string{"", "", "agent0", "agent1"}[random.IntN(4)]
			if err := l.ChargeDetailed(app, "mcp", Detail{tool, user, agent, took}, at, false); err != nil {
				t.Fatal(err)
			}
			model.ofService("mcp", 1)
			model.took("mcp", at, took)
			for d, name := range map[Dimension]string{ByTool: tool, ByMember: member, ByUser: user, ByAgent: agent} {
				if name == "" {
					continue
				}
				model[By(app, d)]++
				model[By(app, d)+"="+name]++
			}
			model[app]++
		case 4, 5:
			time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
		case 6:
			s.setFaults([]error{nil, nil, errAway}[random.IntN(3)], []error{nil, nil, errAway}[random.IntN(3)])
		case 7:
			app := By("app"+strconv.Itoa(random.IntN(3)), dimensions[random.IntN(len(dimensions))])
			checkRead(t, l, seed, app, model[app])
			service := By("", []Dimension{OfService, OfProducts, OfLatency(""), OfLatency("mcp")}[random.IntN(4)])
			checkRead(t, l, seed, service, model[service])
		case 8:
			fillAndFree(t, l, d, random, model)
		case 9:
			l.drop()
			l = start()
		}
	}
	s.setFaults(nil, nil)
	closed(t, l)
	for app, want := range model {
		id, name, one := strings.Cut(app, "=")
		q := always(id)
		if one {
			name, hour, _ := strings.Cut(name, "@")
			q.Product = name
			if at, err := strconv.ParseInt(hour, 10, 64); err == nil {
				q.From, q.To = time.Unix(at, 0), time.Unix(at+1, 0)
			}
		}
		rows, err := s.Usage(t.Context(), q)
		got := int64(0)
		for _, row := range rows {
			got += row.Calls
		}
		if err != nil || got != want {
			t.Errorf("seed %d: the store holds %d calls of %s, want %d", seed, got, app, want)
		}
	}
}

// checkRead accepts no other number than the model's, or an error and not more than that.
func checkRead(t *testing.T, l *Ledger, seed uint64, app string, want int64) {
	t.Helper()
	rows, err := l.Series(t.Context(), always(app))
	var sum driver.Count
	for _, row := range rows {
		sum = sum.Plus(row)
	}
	if err == nil && sum.Calls != want || sum.Calls > want {
		t.Errorf("seed %d: Series(%s) has %d calls, %v, want %d", seed, app, sum.Calls, err, want)
	}
}

// fillAndFree has the disk full for some charges, and waits until the journal is whole.
func fillAndFree(t *testing.T, l *Ledger, d *disk, random *rand.Rand, model model) {
	d.setFaults(random.IntN(100), nil, random.IntN(2) == 0)
	charge(t, l, "app0", 10)
	model["app0"] += 10
	model.ofService("ai", 10)
	time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
	d.setFaults(-1, nil, false)
	time.Sleep(3 * time.Second)
	synctest.Wait()
	if err := l.disk.get(); err != nil {
		t.Errorf("the disk is still %v, 3 s after it has room", err)
	}
}

// Reads run beside flushes of a store that answers at random; none may miss or repeat a batch.
func TestReadsBesideSendsNeverMissOrRepeatABatch(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: wavering{s}, FlushEvery: time.Microsecond})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3000 {
			l.Charge("app", "ai", noon, false)
		}
	}()
	for last := int64(0); ; {
		got, err := used(t.Context(), l, "app", dayOf(noon).From, dayOf(noon).To)
		if err == nil && (got < last || got > 3000) {
			t.Fatalf("Used() = %d after %d, of 3000", got, last)
		}
		if err == nil {
			last = got
		}
		select {
		case <-done:
			if err == nil && got == 3000 {
				return
			}
		default:
		}
	}
}

// wavering counts, and returns an unknown outcome every third time.
type wavering struct{ *faulty }

func (w wavering) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	if err := w.faulty.Count(ctx, b, counts); err != nil || len(w.attempts())%3 == 0 {
		return errAway
	}
	return nil
}
