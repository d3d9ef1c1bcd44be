package link

import (
	"cmp"
	"context"
	"crypto/rand"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters/redis/internal/servers"
)

// check looks whether the server still has what it counted, and is still the one.
func (l *Link) check(ctx context.Context) {
	client := l.client.Load()
	client.Look(ctx)
	if err := l.readMarks(ctx, client); err != nil {
		l.failed(client, err)
	}
}

// readMarks reads what each master is known by. One that it is not known by has lost its counts.
func (l *Link) readMarks(ctx context.Context, client *servers.Client) error {
	n := 1
	if client.Cluster() {
		n = marks
	}
	by, lives := time.Now().Add(l.c.Timeout), strconv.FormatInt(markLives.Milliseconds(), 10)
	found, errs := make([]string, n), make([]error, n+1)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			answer, err := client.Do(by, l.c.Mark(i), "EVAL", l.c.Marker, "1", l.c.Mark(i), "", l.fresh(), lives)
			if err == nil {
				found[i], err = answer.String()
			}
			errs[i] = err
		})
	}
	group.Wait()
	errs[n] = ctx.Err()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	l.compare(found)
	return nil
}

// fresh makes a mark: the seed that is known, or a new one, and what no other mark has.
func (l *Link) fresh() string {
	var mark [32]byte
	rand.Read(mark[:])
	if seed := l.seed.Load(); seed != nil {
		copy(mark[:], seed[:])
	}
	return string(mark[:])
}

func (l *Link) compare(found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := false
	for i, mark := range found {
		lost = lost || l.marks[i] != "" && l.marks[i] != mark
		l.marks[i] = mark
	}
	if len(found[0]) >= 16 {
		seed := [16]byte([]byte(found[0]))
		l.seed.Store(&seed)
	}
	if lost {
		l.back.Store(int64(time.Since(l.start)))
		l.c.Log.Warn("redis: the server has lost its counts; for a while each limit is kept by it and by each node's share")
	}
}
