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
	"github.com/keystile/keystile/storage"
)

// A slow mail server must be noticed only by users who wait for an email.
func TestSlowServerHoldsUpNobody(t *testing.T) {
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

func TestFullOutboxAnswers503ToEverybody(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		later := time.Now().Add(time.Hour)
		for i := range outbox.Capacity {
			_, err := h.store.AddMail(t.Context(), storage.Mail{
				Kind: otp.MailKind, Content: storage.NewSecret("{}"), NextAt: later.Add(time.Duration(i)),
				ExpiresAt: later.Add(time.Hour),
			})
			must(t, err)
		}
		for _, address := range []string{minas, "nobody@example.com"} {
			a := h.browser().post(otp.SignInFlow.Path, "address", address)
			if a.Code != 503 || a.Header().Get("Retry-After") != "60" || !strings.Contains(a.body, "try again") {
				t.Errorf("%s is answered %d %s", address, a.Code, a.body)
			}
		}
		all, err := h.store.DueMails(t.Context(), later, 1)
		must(t, err)
		must(t, h.store.DeleteMail(t.Context(), all[0]))
		if a := h.browser().post(otp.SignInFlow.Path, "address", minas); a.Code != 303 {
			t.Errorf("with room again = %d: what was refused must not have counted", a.Code)
		}
		if n := len(h.mails()); n != 1 {
			t.Errorf("%d mails, want 1", n)
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

func TestMailTakesNotForEver(t *testing.T) {
	inTime(t, "", func(t *testing.T, h *fullFixture) {
		h.post.blocked = make(chan struct{})
		began := time.Now()
		h.browser().post(otp.SignInFlow.Path, "address", minas)
		if n := len(h.mails()); n != 0 || time.Since(began) != outbox.SendTime {
			t.Errorf("%d mails after %v, want none after %v", n, time.Since(began), outbox.SendTime)
		}
	})
}
