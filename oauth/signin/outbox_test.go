package signin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
)

// A mail server that is slow must not be heard of by anybody but who waits for the mail.
func TestASlowServerHoldsUpNobody(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.post.blocked = make(chan struct{})
		began := time.Now()
		for _, address := range []string{minas, "nobody@example.com"} {
			if a := h.browser().post(otp.SignInFlow.Path, "address", address); a.Code != 303 {
				t.Errorf("asking for a code = %d", a.Code)
			}
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("it took %v", waited)
		}
		close(h.post.blocked)
		if n := len(h.mails()); n != 1 {
			t.Errorf("%d mails, want 1", n)
		}
	})
}

func TestAFullOutboxAnswers503ToEverybody(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.post.blocked = make(chan struct{})
		for range outbox.Capacity {
			if !h.outbox.Reserve() {
				t.Fatal("the outbox is full already")
			}
			h.outbox.Put(func(ctx context.Context) error { return h.post.Send(ctx, "a@example.com", "s", "t") })
		}
		for _, address := range []string{minas, "nobody@example.com"} {
			a := h.browser().post(otp.SignInFlow.Path, "address", address)
			if a.Code != 503 || a.Header().Get("Retry-After") != "60" || !strings.Contains(a.body, "try again") {
				t.Errorf("%s is answered %d %s", address, a.Code, a.body)
			}
		}
		close(h.post.blocked)
		if n := len(h.mails()); n != outbox.Capacity {
			t.Errorf("%d mails, want %d", n, outbox.Capacity)
		}
		if a := h.browser().post(otp.SignInFlow.Path, "address", minas); a.Code != 303 {
			t.Errorf("with room again = %d: what was refused must not have counted", a.Code)
		}
	})
}

func TestAMailThatFailsOrPanicsIsLoggedAndNoMore(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.post.err = errors.New("550 no such mailbox")
		h.browser().post(otp.SignInFlow.Path, "address", minas)
		h.mails()
		o := h.outbox
		o.Reserve()
		o.Put(func(context.Context) error { panic("a host's own mistake") })
		h.mails()
		for _, want := range []string{"550 no such mailbox", "a host's own mistake"} {
			if !strings.Contains(h.log.String(), want) {
				t.Errorf("the log lacks %q: %s", want, h.log)
			}
		}
		if *fieldOf[int](o, "held") != 0 || *fieldOf[int](o, "working") != 0 {
			t.Errorf("%d places and %d workers are left", *fieldOf[int](o, "held"), *fieldOf[int](o, "working"))
		}
	})
}

func TestCloseWaitsForWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFullFixture(t, "")
		h.post.blocked = make(chan struct{})
		h.browser().post(otp.SignInFlow.Path, "address", minas)
		go func() {
			time.Sleep(time.Second)
			close(h.post.blocked)
		}()
		if err := h.Close(t.Context()); err != nil || len(h.post.sent) != 1 {
			t.Errorf("Close() = %v after %d mails, want nil after 1", err, len(h.post.sent))
		}
		if a := h.browser().post(otp.SignInFlow.Path, "address", "another@example.com"); a.Code != 503 {
			t.Errorf("after Close = %d, want 503", a.Code)
		}
	})
}

func TestCloseGivesUpWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFullFixture(t, SignUpOpen)
		h.post.blocked = make(chan struct{})
		for i := range 10 {
			h.browser().post(otp.SignInFlow.Path, "address", fmt.Sprintf("a%d@example.com", i))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || len(h.post.sent) != 0 {
			t.Errorf("Close() = %v after %d mails", err, len(h.post.sent))
		}
	})
}

func TestAMailTakesNotForEver(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.post.blocked = make(chan struct{})
		began := time.Now()
		h.browser().post(otp.SignInFlow.Path, "address", minas)
		if n := len(h.mails()); n != 0 || time.Since(began) != outbox.SendTime {
			t.Errorf("%d mails after %v, want none after %v", n, time.Since(began), outbox.SendTime)
		}
	})
}
