package powercut

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// drawn numbers the users.
var drawn atomic.Int64

// hold opens a grant again and again, rotates its token and ends it.
func (h *history) hold(c *serving.Client, rounds int) error {
	for i := range rounds {
		code, verifier, err := c.Authorize()
		if err != nil {
			return err
		}
		a, err := c.Exchange(code, verifier)
		if err != nil {
			return err
		}
		h.exchanged(a, code)
		for range i % 4 {
			old := a.Reply()
			if a, err = c.Refresh(old.Refresh); err != nil {
				return err
			}
			h.exchanged(a, old.Refresh)
			if err := h.revoke(c, old.Access); err != nil {
				return err
			}
		}
		if i%3 == 0 {
			if err := h.endFamily(c, a.Reply().Refresh); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *history) exchanged(a serving.Answer, spent string) {
	follows := a.Reply().Refresh
	h.promise(promise{what: "an exchange", id: a.ID, refused: spent,
		holds: func(w *world) error { return w.exchanged(spent, follows) }})
}

func (h *history) revoke(c *serving.Client, access string) error {
	a, err := c.Revoke(access)
	if err == nil {
		h.promise(promise{what: "an access token's end", id: a.ID, refused: access, bearer: true,
			holds: func(w *world) error { return w.ended(serving.JTIOf(access)) }})
	}
	return err
}

func (h *history) endFamily(c *serving.Client, refresh string) error {
	a, err := c.Revoke(refresh)
	if err == nil {
		h.promise(promise{what: "a family's end", id: a.ID, refused: refresh,
			holds: func(w *world) error { return w.familyEnded(refresh) }})
	}
	return err
}

func (h *history) makeApp(c *serving.Client) (id, secret string, err error) {
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	err = c.Run("app create", &made, []string{"name", "Cut", "domain", "localhost", "tier", "enterprise"})
	if err == nil {
		h.promise(promise{what: "application " + made.ID, holds: func(w *world) error { return w.app(made.ID) }})
	}
	return made.ID, made.Secret, err
}

func (h *history) register(c *serving.Client, rounds int) error {
	for i := range rounds {
		id, _, err := h.makeApp(c)
		if err != nil {
			return err
		}
		if h.era == 1 {
			h.later = id
		}
		if i%6 == 0 {
			var made struct{ Sub string }
			name := fmt.Sprintf("user-%d", drawn.Add(1))
			if err := c.Run("user create", &made, []string{"username", name, "password",
				"a password of this test"}); err != nil {
				return err
			}
			h.promise(promise{what: "user " + name, holds: func(w *world) error { return w.user(made.Sub) }})
		}
	}
	return nil
}

// call makes charged calls for some time.
func (h *history) call(c *serving.Client, long time.Duration) error {
	for end := time.Now().Add(long); time.Now().Before(end); {
		sent := time.Now().UnixNano()
		a, err := c.Get("/api/v1/verify?product=ai", "Authorization", "Bearer "+h.bearer)
		if err != nil {
			return err
		}
		if a.Status != 200 {
			return fmt.Errorf("a call is answered %v", a)
		}
		h.charges = append(h.charges, charge{sent, a.ID})
		time.Sleep(4 * time.Millisecond) // the journal is to grow for seconds, not to megabytes
	}
	return nil
}
