package s3_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/internal/shipper"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// network takes requests to a store without sockets, and loses some of them or of their answers.
type network struct {
	*store
	dice *rand.Rand
	mu   sync.Mutex
	calm bool
}

var errCut = errors.New("connection reset by peer")

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	fate := n.dice.IntN(10)
	if n.calm {
		fate = 9
	}
	n.mu.Unlock()
	w := httptest.NewRecorder()
	switch fate {
	case 0:
		return nil, errCut
	case 1:
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, "<Error><Code>SlowDown</Code></Error>")
		return w.Result(), nil
	case 2:
		fmt.Fprint(w, "<Error><Code>InternalError</Code></Error>")
		return w.Result(), nil
	}
	n.ServeHTTP(w, r)
	switch fate {
	case 3: // it is kept, and nobody learns that
		return nil, errCut
	case 4:
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return w.Result(), nil
}

// The network and the store fail in any way, the process ends anywhere, and the objects in the
// order of their names are the trail, without a gap, and none was ever another one.
func TestObjectsAreTheTrail(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { shipThroughTrouble(t, rand.New(rand.NewPCG(seed, 27))) })
		})
	}
}

func shipThroughTrouble(t *testing.T, dice *rand.Rand) {
	s := &store{Server: &httptest.Server{URL: "http://127.0.0.1:9000"}, objects: map[string][]byte{}, pathStyle: true}
	wire := &network{store: s, dice: dice}
	c := s.config()
	backend, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	trail, err := audit.Open(t.Context(), audit.Config{Store: backend, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer trail.Close(context.Background())
	life := func(length time.Duration) {
		target := made(t, c)
		target.SendForTest(wire)
		conf := stream.Config{Target: target, MaxBytes: 4000, MaxAge: time.Duration(dice.IntN(2)) * 30 * time.Second}
		if err := shipper.Check(&conf); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), length)
		defer stop()
		shipper.FollowTrail(backend, conf, nil, log).Run(ctx)
	}
	for range 10 {
		for range dice.IntN(80) {
			trail.Note(event.Event{Kind: event.Admin, Detail: "seven <words> of \"日本\""})
		}
		life(time.Duration(dice.IntN(90_000)) * time.Millisecond)
	}
	wire.mu.Lock()
	wire.calm = true
	wire.mu.Unlock()
	life(3 * time.Minute)
	if len(s.refused) > 0 || s.rewrites > 0 {
		t.Errorf("the store refused %q; %d objects were written again with other bytes", s.refused, s.rewrites)
	}
	records, err := backend.Records(t.Context(), 0, driver.Page)
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for _, name := range s.names() {
		for text := range strings.Lines(s.lines(t, name)) {
			var l struct {
				Seq uint64
				ID  string
			}
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatal(err)
			}
			if next == len(records) || l.Seq != records[next].Seq || !strings.HasSuffix(strings.TrimSpace(text),
				string(records[next].Data[1:])) {
				t.Fatalf("%s has\n%s\nwant record %d", name, text, next+1)
			}
			next++
		}
	}
	if next != len(records) || next == 0 {
		t.Errorf("%d records were shipped of %d", next, len(records))
	}
}
