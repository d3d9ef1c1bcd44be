package main

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
)

// holder is a client that holds tokens: it opens grants, rotates and revokes.
type holder struct {
	*life
	rand     *rand.Rand
	families []*family
}

const maxFamilies = 4

// work goes on until the server does not answer any more.
func (h *holder) work(l *life) {
	h.life = l
	for l.alive() {
		if err := h.step(); err != nil {
			return
		}
	}
}

func (h *holder) step() error {
	f := h.pick()
	if f == nil {
		return h.open()
	}
	switch n := h.rand.IntN(100); {
	case n < 8:
		return h.endAccess(f)
	case n < 14:
		return h.endFamily(f)
	case n < 30:
		return h.rotateTwice(f)
	default:
		return h.rotate(f)
	}
}

// pick returns a family to go on with, nil to open a new one.
func (h *holder) pick() *family {
	alive := h.families[:0]
	for _, f := range h.families {
		if f.newest != nil && !f.newest.ended {
			alive = append(alive, f)
		}
	}
	h.families = alive
	if n := h.rand.IntN(maxFamilies); n < len(alive) {
		return alive[n]
	}
	return nil
}

func (h *holder) open() error {
	f, err := h.grant(nil, h.cookie)
	if f != nil {
		h.families = append(h.families, f)
	}
	return err
}

func (h *holder) rotate(f *family) error {
	t := f.newest
	asked := h.journal.begin(rotate, t)
	a, err := h.refresh(t)
	if err != nil {
		return err
	}
	if !h.follow(f, a) {
		h.journal.violated(t, "it is good, and is answered %v", a)
		return errGone
	}
	h.journal.acknowledge(asked)
	return nil
}

// rotateTwice sends the same token twice at once: one wins, and any answer at all tells
// that one has.
func (h *holder) rotateTwice(f *family) error {
	t := f.newest
	asked := h.journal.begin(rotate, t)
	var answers [2]answer
	var errs [2]error
	var both sync.WaitGroup
	for i := range answers {
		both.Go(func() { answers[i], errs[i] = h.refresh(t) })
	}
	both.Wait()
	won, refused := 0, 0
	for i, a := range answers {
		switch {
		case errs[i] != nil:
		case a.status == http.StatusBadRequest && a.reply().Error == "invalid_grant":
			refused++
		case h.follow(f, a):
			won++
		default:
			h.journal.violated(t, "it is good, and sent twice at once is answered %v", a)
		}
	}
	if won == 2 || refused == 2 {
		h.journal.violated(t, "sent twice at once it is answered %v and %v", answers[0], answers[1])
	}
	if won+refused > 0 {
		h.journal.acknowledge(asked)
	}
	return errors.Join(errs[:]...)
}

func (h *holder) endAccess(f *family) error {
	t := f.access[h.rand.IntN(len(f.access))]
	if t.ended {
		return nil
	}
	return h.end(revokeAccess, t)
}

// endFamily revokes the refresh token: it ends, and with it every access token of the grant.
func (h *holder) endFamily(f *family) error {
	things := []*thing{f.newest}
	for _, t := range f.access {
		if !t.ended {
			things = append(things, t)
		}
	}
	return h.end(revokeFamily, things...)
}

// end revokes the first thing; the others end with it.
func (h *holder) end(what string, things ...*thing) error {
	asked := h.journal.begin(what, things...)
	a, err := h.revoke(things[0])
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		h.journal.violated(things[0], "its revocation is answered %v", a)
		return errGone
	}
	h.done(asked, a.id())
	return nil
}
