package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/stash"
	"github.com/keystile/keystile/internal/handle"
)

const (
	keptLife = 55 * time.Minute // as long as a form is good for
	slots    = 8                // documents of one user that are kept at a time, each for a form of its own
	maxRef   = 100              // bytes of a reference to one
)

// document is an OpenAPI document that somebody has chosen for a registration, and may have been shown a preview of.
type document struct {
	Ref   string `json:"-"`     // names it in a form; only the page of its user has it
	Name  string `json:"name"`  // of its file, or of where it came from
	URL   string `json:"url"`   // that it was fetched from; "": it was not
	Size  int    `json:"size"`  // bytes
	Tools int    `json:"tools"` // that the preview has shown; 0: it has shown none
	text  []byte
}

// Bytes returns the size of a document as it is shown, such as 23 KB.
func (d document) Bytes() string {
	switch {
	case d.Size < 1000:
		return strconv.Itoa(d.Size) + " B"
	case d.Size < 999_500:
		return strconv.Itoa((d.Size+500)/1000) + " KB"
	}
	return strconv.FormatFloat(float64(d.Size)/1e6, 'f', 1, 64) + " MB"
}

// errGone says that a document that a form names is not kept.
var errGone = wrong("file", "The document is no longer kept: choose it again. Nothing was registered.")

// keep keeps a document of a user (a sub) between the requests of one form, in place of the one that the form named
// before. Of more than eight the oldest goes.
func (t *Tools) keep(ctx context.Context, sub string, d document) (document, error) {
	meta, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	times, err := t.slotTimes(ctx, sub)
	if err != nil {
		return d, err
	}
	slot, secret, named := cutRef(d.Ref)
	if !named {
		slot, secret = oldest(times), handle.NewCookie()
	}
	content := append(append(meta, '\n'), d.text...)
	if err := t.c.Stash.Put(ctx, place(sub, slot, secret), content, keptLife); err != nil {
		return d, err
	}
	d.Ref = strconv.Itoa(slot) + "." + secret
	return d, t.noteSlot(ctx, sub, times, slot, time.Now().UnixMilli())
}

// kept returns the document that a reference of a user's form names, or errGone.
func (t *Tools) kept(ctx context.Context, sub, ref string) (d document, err error) {
	slot, secret, named := cutRef(ref)
	if !named {
		return d, errGone
	}
	content, err := t.c.Stash.Get(ctx, place(sub, slot, secret))
	if errors.Is(err, stash.ErrGone) {
		err = errGone
	}
	if err != nil {
		return d, err
	}
	meta, text, _ := bytes.Cut(content, []byte("\n"))
	err = json.Unmarshal(meta, &d)
	d.Ref, d.text = ref, text
	return d, err
}

// drop frees the place of a document that was registered. That it stays for an hour if this fails harms nobody.
func (t *Tools) drop(ctx context.Context, sub, ref string) {
	slot, secret, named := cutRef(ref)
	if !named {
		return
	}
	if _, err := t.c.Stash.Take(ctx, place(sub, slot, secret)); err != nil {
		return
	}
	if times, err := t.slotTimes(ctx, sub); err == nil {
		t.noteSlot(ctx, sub, times, slot, 0)
	}
}

func place(sub string, slot int, secret string) stash.Place {
	return stash.Place{What: "document", Of: sub, At: strconv.Itoa(slot), Secret: secret}
}

// cutRef returns the parts of a reference; false if it is none.
func cutRef(ref string) (slot int, secret string, ok bool) {
	number, secret, _ := strings.Cut(ref, ".")
	slot, err := strconv.Atoi(number)
	return slot, secret, err == nil && 0 <= slot && slot < slots && secret != "" && len(ref) <= maxRef
}

// timesPlace has when something was put at each place of a user.
func timesPlace(sub string) stash.Place { return stash.Place{What: "documents", Of: sub} }

func (t *Tools) slotTimes(ctx context.Context, sub string) (times [slots]int64, err error) {
	content, err := t.c.Stash.Get(ctx, timesPlace(sub))
	if errors.Is(err, stash.ErrGone) {
		return times, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &times)
	}
	return times, err
}

func (t *Tools) noteSlot(ctx context.Context, sub string, times [slots]int64, slot int, at int64) error {
	times[slot] = at
	content, err := json.Marshal(times)
	if err != nil {
		return err
	}
	return t.c.Stash.Put(ctx, timesPlace(sub), content, time.Hour)
}

func oldest(times [slots]int64) (slot int) {
	for i, at := range times {
		if at < times[slot] {
			slot = i
		}
	}
	return slot
}
