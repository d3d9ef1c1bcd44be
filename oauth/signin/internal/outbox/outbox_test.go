package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// node is one of several processes over a store, with the mail server that they share.
type node struct {
	*Outbox
	t     *testing.T
	store *storage.Store
	log   *bytes.Buffer
}

// server is a mail server. Answer says what becomes of an email; nil takes it.
type server struct {
	mu     sync.Mutex
	taken  []string
	answer func(ctx context.Context, to string) error
}

func (s *server) Send(ctx context.Context, to, subject, text string) error {
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	var err error
	if answer != nil {
		err = answer(ctx, to)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.taken = append(s.taken, to+": "+text)
	}
	return err
}

// recovers makes the server take everything.
func (s *server) recovers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = nil
}

func (s *server) want(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	got := slices.Sorted(slices.Values(s.taken))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the server has taken %q, want %q", got, want)
	}
}

// nodes makes some processes over one store; each but the first is started by the test.
func nodes(t *testing.T, n int, post Mailer) (all []*node, backend driver.Backend) {
	t.Helper()
	backend, key := memory.New(), storage.NewMasterKey()
	for range n {
		store, err := storage.Open(t.Context(), backend, key)
		must(t, err)
		log := new(bytes.Buffer)
		one := &node{New(store, post, slog.New(slog.NewTextHandler(log, nil))), t, store, log}
		t.Cleanup(func() {
			over, end := context.WithCancel(context.Background())
			end()
			_ = one.Close(over)
		})
		all = append(all, one)
	}
	all[0].begin()
	return all, backend
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin starts a node. Its emails go to the addresses that they promise.
func (n *node) begin() {
	n.Start(context.Background(),
		map[string]Write{"letter": func(_ context.Context, promised json.RawMessage) (Message, error) {
			var m Message
			err := json.Unmarshal(promised, &m)
			return m, err
		}})
}

func (n *node) promise(text string, to ...string) {
	n.t.Helper()
	must(n.t, n.Put(n.t.Context(), "letter", "", 10*time.Minute, Message{To: to, Subject: "S", Text: text}))
}

func (n *node) wantWaiting(want int) {
	n.t.Helper()
	if got, err := n.store.CountMails(n.t.Context(), "letter", "", 100); err != nil || got != want {
		n.t.Errorf("%d mails wait, %v; want %d", got, err, want)
	}
}

func TestSoManyMailsAreSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most, post := 0, 0, &server{}
		post.answer = func(context.Context, string) error {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		}
		a := first(nodes(t, 1, post))
		for range 20 {
			a.promise("x", "ada@example.com")
		}
		must(t, a.Close(t.Context()))
		if most != Workers || len(post.taken) != 20 {
			t.Errorf("%d at once and %d in all, want %d and 20", most, len(post.taken), Workers)
		}
	})
}

func first(all []*node, _ driver.Backend) *node { return all[0] }

func TestMailIsSentByOneOfManyNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := &server{}
		all, _ := nodes(t, 3, post)
		all[1].begin()
		all[2].begin()
		var want []string
		for i := range 90 {
			text := fmt.Sprint("letter ", i)
			all[i%3].promise(text, "ada@example.com")
			want = append(want, "ada@example.com: "+text)
		}
		after(Every)
		post.want(t, want...)
		all[0].wantWaiting(0)
	})
}

// A node that is killed leaves what it has promised, and what it was sending.
func TestOutboxSendsWhatAKilledNodePromised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := &server{answer: func(ctx context.Context, to string) error {
			<-ctx.Done() // as seen from outside, the process that waits here is dead
			return ctx.Err()
		}}
		all, _ := nodes(t, 3, post)
		killed, next := all[0], all[1]
		for i := range Workers + 1 { // one has no worker yet
			killed.promise(fmt.Sprint("letter ", i), "ada@example.com")
			after(1)
		}
		synctest.Wait()
		killed.runner.Close(ended()) // nothing of it is stored
		if log := killed.log.String(); log != "" {
			t.Errorf("it complains of what the next one does: %s", log)
		}

		healthy := &server{}
		next.mailer = healthy
		next.begin()
		synctest.Wait()
		healthy.want(t, fmt.Sprint("ada@example.com: letter ", Workers))
		after(lease - time.Second)
		next.wantWaiting(Workers) // they may still be on their way
		after(Every + time.Second)
		if n := len(healthy.taken); n != Workers+1 {
			t.Errorf("%d mails were sent, want all %d", n, Workers+1)
		}
		next.wantWaiting(0)
	})
}

// after lets time pass, and what is due in it come to its end.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func ended() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}

func TestMailThatFailsIsRetriedForAsLongAsItIsOfUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries []time.Duration
		began, post := time.Now(), &server{}
		post.answer = func(context.Context, string) error {
			tries = append(tries, time.Since(began))
			return errors.New("the server is away")
		}
		a := first(nodes(t, 1, post))
		a.promise("x", "ada@example.com")
		after(time.Hour)
		// of the 10 minutes that it is of use
		want := []time.Duration{0, 5 * time.Second, 35 * time.Second, 155 * time.Second, 455 * time.Second}
		if len(tries) != len(want) {
			t.Fatalf("tried after %v, want about %v", tries, want)
		}
		for i, after := range tries {
			if after < want[i] || after > want[i]*11/10 {
				t.Errorf("attempt %d came after %v, want %v and up to a tenth more", i+1, after, want[i])
			}
		}
		a.wantWaiting(0)
		if log := a.log.String(); strings.Count(log, "it is tried again") != 4 || strings.Count(log, "is given up") != 1 ||
			!strings.Contains(log, "the server is away") {
			t.Errorf("the log says %s", log)
		}
	})
}

func TestMailGoesOnWhenTheServerIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := &server{answer: func(context.Context, string) error { panic("a host's own mistake") }}
		a := first(nodes(t, 1, post))
		a.promise("x", "ada@example.com")
		synctest.Wait()
		if log := a.log.String(); !strings.Contains(log, "a host's own mistake") {
			t.Errorf("the log says %s", log)
		}
		post.recovers()
		after(6 * time.Second)
		post.want(t, "ada@example.com: x")
		a.wantWaiting(0)
	})
}

// forGood is a refusal that trying again does not change.
type forGood struct{ error }

func (forGood) Permanent() bool { return true }

func TestMailRefusedForGoodIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries, post := map[string]int{}, &server{}
		post.answer = func(_ context.Context, to string) error {
			tries[to]++
			switch {
			case to == "nobody@example.com":
				return forGood{errors.New("550 no such mailbox")}
			case to == "bob@example.com" && tries[to] == 1:
				return errors.New("451 later")
			}
			return nil
		}
		a := first(nodes(t, 1, post))
		a.promise("x", "nobody@example.com")
		synctest.Wait()
		a.wantWaiting(0)
		a.promise("y", "ada@example.com", "bob@example.com", "nobody@example.com")
		after(time.Hour)
		post.want(t, "ada@example.com: y", "bob@example.com: y")
		if tries["nobody@example.com"] != 2 || tries["ada@example.com"] != 1 || tries["bob@example.com"] != 2 {
			t.Errorf("tried %v: only Bob's second attempt makes sense", tries)
		}
		a.wantWaiting(0)
	})
}

// The one case in which an email is sent twice: the process ends between the server's word and
// the store's.
func TestMailIsSentTwiceOnlyIfItCannotBeStoredThatItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := &server{}
		all, _ := nodes(t, 2, post)
		a, b := all[0], all[1]
		a.Outbox.store = forgetful{a.store}
		a.promise("x", "ada@example.com")
		synctest.Wait()
		a.runner.Close(ended())
		b.begin()
		after(lease - time.Second)
		post.want(t, "ada@example.com: x")
		after(Every + time.Second)
		post.want(t, "ada@example.com: x", "ada@example.com: x")
		b.wantWaiting(0)
		after(time.Hour)
		post.want(t, "ada@example.com: x", "ada@example.com: x")
	})
}

// forgetful is a store that takes no outcome.
type forgetful struct{ Store }

func (f forgetful) DeleteMail(ctx context.Context, m storage.Mail) error {
	return storage.ErrUnavailable
}

func TestMailThatIsSealedAnewMeanwhileIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := &server{}
		all, _ := nodes(t, 1, post)
		a := all[0]
		post.answer = func(ctx context.Context, _ string) error {
			list, err := a.store.DueMails(ctx, time.Now().Add(time.Hour), 1)
			if err == nil {
				_, err = a.store.SaveMail(ctx, list[0]) // as Reseal does: another version, the same lease
			}
			return err
		}
		a.promise("x", "ada@example.com")
		after(time.Hour)
		post.want(t, "ada@example.com: x")
		a.wantWaiting(0)
	})
}

func TestMailIsSealedWhileItWaitsAndGoneAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := &server{answer: func(context.Context, string) error { return errors.New("451 later") }}
		all, backend := nodes(t, 1, post)
		a := all[0]
		must(t, a.Put(t.Context(), "letter", "ada's sub", time.Minute,
			Message{To: []string{"ada@example.com"}, Text: "Your code is 123456"}))
		synctest.Wait() // one attempt has stored what is left
		docs, _, err := backend.List(t.Context(), "mail", driver.Between("", "z"), 10)
		must(t, err)
		if len(docs) == 0 {
			t.Fatal("no mail is stored")
		}
		for _, d := range docs {
			if stored := fmt.Sprintf("%s %s %q", d.ID, d.Data, d.Index); strings.Contains(stored, "123456") ||
				strings.Contains(stored, "ada") {
				t.Errorf("stored as %s", stored)
			}
		}
		post.recovers()
		after(time.Minute)
		post.want(t, "ada@example.com: Your code is 123456")
		if docs, _, err := backend.List(t.Context(), "mail", driver.Between("", "z"), 10); len(docs) != 0 || err != nil {
			t.Errorf("%d mails are left, %v", len(docs), err)
		}
	})
}

func TestClosedOutboxPromisesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := first(nodes(t, 1, &server{}))
		must(t, a.Close(t.Context()))
		if err := errors.Join(a.Room(t.Context(), "letter", "", 0)); !errors.Is(err, ErrFull) {
			t.Errorf("Room() = %v, want ErrFull", err)
		}
		if err := a.Put(t.Context(), "letter", "", time.Minute, Message{}); !errors.Is(err, ErrFull) {
			t.Errorf("Put() = %v, want ErrFull", err)
		}
		a.wantWaiting(0)
	})
}

// Of a newer version's kinds this process knows nothing; a newer process will.
func TestMailOfAnUnknownKindIsLeftToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		post := &server{}
		all, _ := nodes(t, 2, post)
		must(t, all[0].Put(t.Context(), "card", "", time.Hour, Message{To: []string{"ada@example.com"}, Text: "x"}))
		synctest.Wait()
		must(t, all[0].Close(t.Context()))
		all[1].Start(context.Background(),
			map[string]Write{"card": func(_ context.Context, promised json.RawMessage) (m Message, err error) {
				return m, json.Unmarshal(promised, &m)
			}})
		after(Every)
		post.want(t, "ada@example.com: x")
	})
}
