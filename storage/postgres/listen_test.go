package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// listening starts to listen, and returns what it hears and how it ends. It has heard the first hint,
// which tells that it listens.
func listening(t *testing.T, s *postgres.Store) (hints chan struct{}, ended chan error) {
	t.Helper()
	hints, ended = make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- s.Listen(t.Context(), func() { hints <- struct{}{} }) }()
	select {
	case <-hints:
	case err := <-ended:
		t.Fatalf("Listen() = %v before the first hint", err)
	}
	return hints, ended
}

func TestListenHintsAtWhatOtherNodesWaitFor(t *testing.T) {
	for name, o := range map[string]struct{ writer, listener string }{
		"directly": {direct, direct},
		"behind PgBouncer, listening to the server": {pooled, direct},
	} {
		t.Run(name, func(t *testing.T) {
			schema := newSchema(t)
			here := open(t, address(t, o.writer), postgres.Options{Schema: schema, ListenDSN: address(t, o.listener)})
			defer here.Close()
			there := open(t, address(t, o.writer), postgres.Options{Schema: schema})
			defer there.Close()
			hints, _ := listening(t, here)

			if _, err := there.Put(t.Context(), driver.Doc{Kind: "session", ID: "s"}); err != nil {
				t.Fatal(err)
			}
			if err := there.Append(t.Context(), driver.Record{}); err != nil {
				t.Fatal(err)
			}
			if err := there.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: "g"}); err != nil {
				t.Fatal(err)
			}
			<-hints // of the revocation
			if _, err := there.Put(t.Context(), driver.Doc{Kind: "app", ID: "a"},
				driver.Doc{Kind: driver.KindEpoch, ID: "app"}); err != nil {
				t.Fatal(err)
			}
			<-hints
			if len(hints) != 0 {
				t.Errorf("%d hints too many: what nobody waits for is told as well", len(hints))
			}
		})
	}
}

func TestPoolerThatDropsNotificationsIsNoticed(t *testing.T) {
	s := open(t, address(t, pooled), postgres.Options{Schema: newSchema(t), Log: slog.New(slog.DiscardHandler)})
	defer s.Close()
	hinted := false
	if err := s.Listen(t.Context(), func() { hinted = true }); err != nil || hinted {
		t.Errorf("Listen(through a pooler) = %v, hinted %v, want nil and no hint: it polls", err, hinted)
	}
}

func TestPollOnlyListensToNothingAndTellsNobody(t *testing.T) {
	schema := newSchema(t)
	s := open(t, address(t, direct), postgres.Options{Schema: schema, PollOnly: true})
	defer s.Close()
	if err := s.Listen(t.Context(), func() { t.Error("a hint") }); err != nil {
		t.Error(err)
	}
	teller := open(t, address(t, direct), postgres.Options{Schema: schema})
	defer teller.Close()
	hints, _ := listening(t, teller)
	for i, b := range []*postgres.Store{s, teller} { // the one hint comes last
		if err := b.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Put(t.Context(), driver.Doc{Kind: driver.KindEpoch, ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	<-hints
	<-hints
	if len(hints) != 0 {
		t.Errorf("%d hints too many: of a store that tells nobody", len(hints))
	}
}

func TestListenEndsWithAnErrorWhenItsConnectionDoes(t *testing.T) {
	schema := newSchema(t)
	s := open(t, address(t, direct), postgres.Options{Schema: schema})
	defer s.Close()
	_, ended := listening(t, s)
	sql(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN \""+schema+".hint\"'")
	if err := <-ended; err == nil {
		t.Error("Listen() = nil: nobody would listen again")
	}
}

func TestListenEndsWithTheStoreAndWithItsCaller(t *testing.T) {
	s := open(t, address(t, direct), postgres.Options{Schema: newSchema(t)})
	_, ended := listening(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Listen(of a closed store) = %v", err)
	}

	s = open(t, address(t, direct), postgres.Options{Schema: newSchema(t)})
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	heard := make(chan struct{}, 9)
	go func() { ended <- s.Listen(ctx, func() { heard <- struct{}{} }) }()
	<-heard
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Listen(until its caller went away) = %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("Listen goes on when its caller has gone")
	}
}
