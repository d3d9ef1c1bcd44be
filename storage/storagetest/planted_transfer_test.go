package storagetest_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/storagetest"
	"github.com/keystile/keystile/storage/transfer"
)

// plantedTransfer is the environment variable that names the bug of a child process.
const plantedTransfer = "KEYSTILE_PLANTED_TRANSFER_BUG"

type (
	rowsFunc = func(context.Context, transfer.Table, []byte, int) ([]transfer.Row, error)
	loadFunc = func(context.Context, transfer.Table, []transfer.Row, [][]byte) error
)

// copied is a memory.Store whose Rows and Load may be wrong.
type copied struct {
	*memory.Store
	rows rowsFunc
	load loadFunc
}

func (c *copied) Rows(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
	return c.rows(ctx, table, after, n)
}

func (c *copied) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	return c.load(ctx, table, rows, gone)
}

// changing changes the pages that are listed.
func changing(change func(table transfer.Table, page []transfer.Row) []transfer.Row) func(*copied) {
	return func(c *copied) {
		rows := c.rows
		c.rows = func(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
			page, err := rows(ctx, table, after, n)
			return change(table, page), err
		}
	}
}

// storing changes the rows that are stored.
func storing(change func(table transfer.Table, rows []transfer.Row) []transfer.Row) func(*copied) {
	return func(c *copied) {
		load := c.load
		c.load = func(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
			return load(ctx, table, change(table, slices.Clone(rows)), gone)
		}
	}
}

// eachDoc changes the documents that are stored.
func eachDoc(change func(*driver.Doc)) func(*copied) {
	return storing(func(table transfer.Table, rows []transfer.Row) []transfer.Row {
		for i := range rows {
			if d, err := rows[i].Doc(); err == nil && table == transfer.Documents {
				change(&d)
				rows[i] = transfer.DocRow(d)
			}
		}
		return rows
	})
}

func eachToken(change func(*driver.Token)) func(*copied) {
	return storing(func(table transfer.Table, rows []transfer.Row) []transfer.Row {
		for i := range rows {
			if x, err := rows[i].Token(); err == nil && table == transfer.Tokens {
				change(&x)
				rows[i] = transfer.TokenRow(x)
			}
		}
		return rows
	})
}

// in runs change on the rows of one table alone.
func in(only transfer.Table,
	change func([]transfer.Row) []transfer.Row) func(transfer.Table, []transfer.Row) []transfer.Row {
	return func(table transfer.Table, rows []transfer.Row) []transfer.Row {
		if table == only {
			rows = change(rows)
		}
		return rows
	}
}

func transferBugs() map[string]func(*copied) {
	sorted := func(less func(a, b transfer.Row) int) func([]transfer.Row) []transfer.Row {
		return func(rows []transfer.Row) []transfer.Row { slices.SortFunc(rows, less); return rows }
	}
	bugs := map[string]func(*copied){
		"tokens are loaded unspent": eachToken(func(t *driver.Token) { t.SpentAt = time.Time{} }),
		"times are cut to microseconds": eachToken(func(t *driver.Token) {
			t.ExpiresAt = t.ExpiresAt.Truncate(time.Microsecond)
		}),
		"a zero time becomes 1970":            eachToken(func(t *driver.Token) { t.AuthTime = later(t.AuthTime) }),
		"a new field of tokens is not loaded": eachToken(func(t *driver.Token) { t.IP = "" }),
		"versions are given anew":             eachDoc(func(d *driver.Doc) { d.Version = 1 }),
		"entries are sorted":                  eachDoc(func(d *driver.Doc) { slices.Sort(d.Index) }),
		"entries are made unique": eachDoc(func(d *driver.Doc) {
			slices.Sort(d.Index)
			d.Index = slices.Compact(d.Index)
		}),
		"documents lose their end": eachDoc(func(d *driver.Doc) { d.ExpiresAt = time.Time{} }),
		"names are trimmed":        eachDoc(func(d *driver.Doc) { d.Kind = strings.TrimRight(d.Kind, " ") }),
		"names are folded":         eachDoc(func(d *driver.Doc) { d.Kind = strings.ToLower(d.Kind) }),
		"no counter is loaded": storing(in(transfer.Counters,
			func([]transfer.Row) []transfer.Row { return nil })),
		"days are not loaded": storing(in(transfer.Usage, dropDays)),
		"batches are not loaded": storing(in(transfer.Batches,
			func([]transfer.Row) []transfer.Row { return nil })),
		"the last row of a Load is forgotten": storing(func(_ transfer.Table,
			rows []transfer.Row) []transfer.Row {
			return rows[:max(0, len(rows)-1)]
		}),
		"rows are listed by length, then name": changing(in(transfer.Documents,
			sorted(func(a, b transfer.Row) int { return len(a.Key)*1000 - len(b.Key)*1000 + bytes.Compare(a.Key, b.Key) }))),
		"rows are listed without case": changing(in(transfer.Revocations,
			sorted(func(a, b transfer.Row) int { return bytes.Compare(bytes.ToLower(a.Key), bytes.ToLower(b.Key)) }))),
		"tokens are listed backwards": changing(in(transfer.Tokens,
			sorted(func(a, b transfer.Row) int { return bytes.Compare(b.Key, a.Key) }))),
		"days are listed before hours": changing(in(transfer.Usage, sorted(daysFirst))),
		"a counter is not listed": changing(in(transfer.Counters,
			func(rows []transfer.Row) []transfer.Row { return rows[:min(2, len(rows))] })),
		"spent tokens are not listed": changing(in(transfer.Tokens,
			func(rows []transfer.Row) []transfer.Row { return slices.DeleteFunc(rows, isSpent) })),
	}
	for name, plant := range callBugs() {
		bugs[name] = plant
	}
	return bugs
}

func later(t time.Time) time.Time {
	if t.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return t
}

func dropDays(rows []transfer.Row) []transfer.Row {
	return slices.DeleteFunc(rows, func(r transfer.Row) bool { _, daily, err := r.Usage(); return err == nil && daily })
}

func daysFirst(a, b transfer.Row) int {
	x, days, _ := a.Usage()
	y, others, _ := b.Usage()
	if x.AppID == y.AppID && days != others {
		return map[bool]int{true: -1, false: 1}[days]
	}
	return bytes.Compare(a.Key, b.Key)
}

func isSpent(r transfer.Row) bool { t, err := r.Token(); return err == nil && !t.SpentAt.IsZero() }

// callBugs are in what a call does, not in its rows.
func callBugs() map[string]func(*copied) {
	return map[string]func(*copied){
		"what is gone stays": func(c *copied) {
			load := c.load
			c.load = func(ctx context.Context, table transfer.Table, rows []transfer.Row, _ [][]byte) error {
				return load(ctx, table, rows, nil)
			}
		},
		"rows that are there are not replaced": func(c *copied) {
			load, list := c.load, c.rows
			c.load = func(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
				there, _ := list(ctx, table, nil, transfer.PageRows)
				rows = slices.DeleteFunc(slices.Clone(rows), func(r transfer.Row) bool {
					return table != transfer.Counters && slices.ContainsFunc(there,
						func(old transfer.Row) bool { return bytes.Equal(old.Key, r.Key) })
				})
				return load(ctx, table, rows, gone)
			}
		},
		"a Load that is refused is done by half": func(c *copied) {
			load := c.load
			c.load = func(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
				for i := range rows {
					if err := load(ctx, table, rows[i:i+1], nil); err != nil {
						return err
					}
				}
				return load(ctx, table, nil, gone)
			}
		},
		"a page begins with after": func(c *copied) {
			rows := c.rows
			c.rows = func(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
				page, err := rows(ctx, table, after, n)
				all, _ := rows(ctx, table, nil, transfer.PageRows)
				for _, r := range all {
					if after != nil && bytes.Equal(r.Key, after) {
						page = append([]transfer.Row{r}, page[:min(len(page), n-1)]...)
					}
				}
				return page, err
			}
		},
		"pages have no bound of bytes": func(c *copied) {
			rows := c.rows
			c.rows = func(ctx context.Context, table transfer.Table, after []byte, n int) (all []transfer.Row, err error) {
				for len(all) < n {
					page, err := rows(ctx, table, after, n-len(all))
					if err != nil || len(page) == 0 {
						return all, err
					}
					all, after = append(all, page...), page[len(page)-1].Key
				}
				return all, nil
			}
		},
		"rows share memory with the store": func(c *copied) {
			rows := c.rows
			var mu sync.Mutex
			kept := map[string][]transfer.Row{}
			c.rows = func(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
				page, err := rows(ctx, table, after, n)
				mu.Lock()
				defer mu.Unlock()
				name := string(table) + string(after)
				if len(kept[name]) != len(page) {
					kept[name] = page
				}
				return kept[name], err
			}
		},
		"two revocations have one Seq": func(c *copied) {
			load, list := c.load, c.rows
			c.load = func(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
				before, _ := list(ctx, table, nil, transfer.PageRows)
				err := load(ctx, table, rows, gone)
				if after, _ := list(ctx, table, nil, transfer.PageRows); table == transfer.Revocations && err == nil &&
					len(gone) == 0 && len(after) < len(before) {
					return load(ctx, table, before, nil)
				}
				return err
			}
		},
		"an unknown table is empty": func(c *copied) {
			rows := c.rows
			c.rows = func(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
				if !slices.Contains(transfer.Tables(), table) {
					return nil, nil
				}
				return rows(ctx, table, after, n)
			}
		},
	}
}

// Without a bug this is the control.
func TestTransferAdapter(t *testing.T) {
	storagetest.RunTransfer(t, func(*testing.T) driver.Backend {
		b := memory.New()
		c := &copied{b, b.Rows, b.Load}
		if plant := transferBugs()[os.Getenv(plantedTransfer)]; plant != nil {
			plant(c)
		}
		return c
	})
}

func TestRunTransferCatchesPlantedBugs(t *testing.T) {
	for name := range transferBugs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestTransferAdapter$", "-test.timeout", "60s",
				"-test.failfast")
			child.Env = append(os.Environ(), plantedTransfer+"="+name)
			if out, err := child.CombinedOutput(); err == nil || !strings.Contains(string(out),
				"--- FAIL: TestTransferAdapter/") {
				t.Errorf("the suite passes on it, or ends otherwise:\n%s", out)
			}
		})
	}
}
