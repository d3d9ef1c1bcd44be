package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/database"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// wire stands between a Store and its server, and can lose answers: it lets a statement through,
// waits until the server has something to say about it, and cuts the connection instead.
type wire struct{ database.Losses }

// newWire returns a wire to a server, and the address at which it is to be used.
func newWire(t *testing.T, dsn string) (*wire, string) {
	t.Helper()
	w := &wire{}
	return w, database.Through(t, dsn, w.carry)
}

func (w *wire) carry(client, server net.Conn) {
	answer := make([]byte, 1<<16)
	for {
		n, err := server.Read(answer)
		if err != nil {
			return
		}
		if lost, _ := w.Next(); lost {
			return
		}
		if _, err := client.Write(answer[:n]); err != nil {
			return
		}
	}
}

// told holds the answer of a call, and looks whether it has happened, once.
type told struct {
	err      error
	happened func() bool
}

// One, two or three answers are lost, and a call says what happened, and never happens twice.
func TestAnswersThatAreLostDoubleNothing(t *testing.T) {
	dsn := address(t, direct)
	schema := newSchema(t)
	w, through := newWire(t, dsn)
	s := open(t, through, postgres.Options{Schema: schema, Conns: 1})
	s.RepeatAfter(time.Millisecond)
	defer s.Close()
	sees := open(t, dsn, postgres.Options{Schema: schema})
	defer sees.Close()
	ctx, at := t.Context(), time.Now().UTC()
	token := func() driver.Token {
		return driver.Token{Key: handle.KeyOf(handle.New(handle.RefreshPrefix, at)), Grant: "g", IssuedAt: at,
			ExpiresAt: at.Add(time.Hour)}
	}
	batch := uint64(0)
	id := 0
	for name, do := range map[string]func() told{
		"Issue": func() told {
			x := token()
			return told{s.Issue(ctx, x), func() bool { _, err := sees.Token(ctx, x.Key); return err == nil }}
		},
		"Exchange": func() told {
			x, next := token(), token()
			sees.Issue(ctx, x)
			return told{s.Exchange(ctx, x.Key, at, next), func() bool {
				_, err := sees.Token(ctx, next.Key)
				return err == nil && errors.Is(sees.Exchange(ctx, x.Key, at), driver.ErrSpent)
			}}
		},
		"Exchange for nothing": func() told {
			x := token()
			sees.Issue(ctx, x)
			return told{s.Exchange(ctx, x.Key, at),
				func() bool { x, err := sees.Token(ctx, x.Key); return err == nil && !x.SpentAt.IsZero() }}
		},
		"Revoke": func() told {
			id++
			r := driver.Revocation{Kind: driver.RevokeJTI, ID: fmt.Sprint(id)}
			return told{s.Revoke(ctx, r), func() bool {
				feed, err := sees.Revocations(ctx, 0, driver.Page)
				return err == nil && feed[len(feed)-1].ID == r.ID && len(feed) == id
			}}
		},
		"Count": func() told {
			batch++
			return told{s.Count(ctx, driver.Batch{Node: "n", Seq: batch}, []driver.Count{{AppID: "a", At: at, Calls: 1}}),
				func() bool {
					rows, err := sees.Usage(ctx, driver.UsageQuery{AppID: "a", From: at.Add(-48 * time.Hour), To: at.Add(time.Hour),
						Daily: true})
					return err == nil && len(rows) == 1 && rows[0].Calls == int64(batch)
				}}
		},
		"Append": func() told {
			before, _ := sees.Appended(ctx)
			return told{s.Append(ctx, driver.Record{At: at}),
				func() bool { after, err := sees.Appended(ctx); return err == nil && after == before+1 }}
		},
		"Put": func() told {
			id++
			sees.Revoke(ctx, driver.Revocation{Kind: driver.RevokeJTI, ID: fmt.Sprint(id)}) // keeps the count of Revoke
			_, err := s.Put(ctx, driver.Doc{Kind: "k", ID: fmt.Sprint(id)})
			return told{err, func() bool { _, err := sees.Get(ctx, "k", fmt.Sprint(id)); return err == nil }}
		},
		"Get": func() told {
			_, err := s.Get(ctx, "k", "not there")
			if errors.Is(err, driver.ErrNotFound) {
				err = nil
			}
			return told{err, func() bool { return true }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if n := loseAll(w, 3, func(gaps []int) {
				if c := do(); c.err != nil || !c.happened() {
					t.Errorf("the answers %v were lost: %v, and it must have happened once", gaps, c.err)
				}
			}); n < 20 {
				t.Errorf("answers were lost in %d ways", n)
			}
		})
	}
}

// loseAll has a call made once for each way in which up to so many of its answers can get lost, and returns how many
// ways there are: of a call, and of its attempts to find out what became of it.
func loseAll(w *wire, most int, call func(gaps []int), before ...int) (ways int) {
	for gap := 1; ; gap++ {
		gaps := append(slices.Clone(before), gap)
		w.Begin(gaps...)
		call(gaps)
		if w.End() < len(gaps) { // the call was over
			return ways
		}
		ways++
		if len(gaps) < most {
			ways += loseAll(w, most, call, gaps...)
		}
	}
}

// A server that was started anew has dropped all connections: nobody has to hear of that.
func TestConnectionsThatTheServerDroppedAreReplaced(t *testing.T) {
	schema := newSchema(t)
	s := open(t, address(t, direct), postgres.Options{Schema: schema, Conns: 4})
	defer s.Close()
	use := func() {
		t.Helper()
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if _, err := s.Get(context.Background(), "k", fmt.Sprint(i)); !errors.Is(err, driver.ErrNotFound) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	use()
	sql(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keystile' AND query LIKE "+
		"'%\""+schema+"\"%' AND pid <> pg_backend_pid()")
	use()
}

// A statement that the server does not answer holds up its caller for the time that a call has, and Close for less.
func TestCallThatIsNotAnsweredEnds(t *testing.T) {
	schema := newSchema(t)
	s := open(t, address(t, direct), postgres.Options{Schema: schema, Timeout: 300 * time.Millisecond})
	if _, err := s.Put(t.Context(), driver.Doc{Kind: "k", ID: "i"}); err != nil {
		t.Fatal(err)
	}
	block := make(chan struct{})
	blocked, freed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(freed)
		holding(t, "SELECT * FROM "+schema+".doc FOR UPDATE", blocked, block)
	}()
	<-blocked
	if _, err := s.Put(t.Context(), driver.Doc{Kind: "k", ID: "i", Version: 1}); err == nil ||
		errors.Is(err, driver.ErrConflict) {
		t.Errorf("Put(a locked document) = %v, want an error that is no verdict", err)
	}
	close(block)
	<-freed
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
