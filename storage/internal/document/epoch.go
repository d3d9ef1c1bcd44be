package document

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/state"
)

// followed are the kinds whose changes are told to other processes.
var followed = []string{state.ChangedKeys, state.ChangedSettings, state.ChangedApps, state.ChangedCapabilities,
	state.ChangedAccess, state.ChangedBundles, state.ChangedUsers}

// userEpochs is the number of epochs that count changes of users. Writers of one epoch meet, and users are
// written by many at once.
const userEpochs = 16

// epochOf names the epoch that counts the change of a document, "" if nobody caches it.
func epochOf(d driver.Doc) string {
	switch {
	case !slices.Contains(followed, d.Kind), d.Kind == state.ChangedUsers && d.Version == 0:
		return ""
	case d.Kind == state.ChangedUsers:
		spread := fnv.New32a()
		spread.Write([]byte(d.ID))
		return userEpoch(spread.Sum32() % userEpochs)
	}
	return d.Kind
}

func userEpoch(n uint32) string { return fmt.Sprintf("%s.%x", state.ChangedUsers, n) }

// allEpochs are the names of all epochs.
var allEpochs = func() (names []string) {
	for _, kind := range followed {
		if kind != state.ChangedUsers {
			names = append(names, kind)
		}
	}
	for n := range uint32(userEpochs) {
		names = append(names, userEpoch(n))
	}
	return names
}()

// MaxDocs bounds a Put of documents of which some may be followed: the rest is for epochs.
var MaxDocs = driver.MaxPut - len(allEpochs)

// epoch counts the changes of one kind of documents, or of some users. It is written in the same step as each, and
// read once a second by all processes that share the store. It names the last 32 changes, so a reader drops only what
// has changed, and notices a store that has lost a change even if another one has taken its number.
//
// Two writers of one kind conflict there; the loser retries, which is cheap as long as these kinds are written seldom.
// Users are written by more at once: they are counted in 16 epochs by their sub (of 16 writers on PostgreSQL one epoch
// leaves a tenth of the rate, 16 leave half), and new ones, which nobody can have cached, in none. A version
// counter in the adapter would have been a second truth beside the documents, and an order that each adapter has to
// prove. A store that only one process writes to has no epochs ([driver.Shared]); there, as everywhere, a
// process is told of its own changes of users before their writer is answered.
type epoch struct {
	Of      string    `json:"of"` // the kind, or a userEpoch
	N       uint64    `json:"n"`
	Recent  []changed `json:"recent"` // the last of them, the newest last
	Version int64     `json:"-"`
	carried
}

// changed is one change of a document. Its tag tells it from another one that took its number after
// the store had lost it.
type changed struct {
	ID  string `json:"id"`
	Tag string `json:"tag"`
	carried
}

// maxRecent is the number of changes of a kind, between two looks, after which all documents of
// the kind count as changed.
const maxRecent = 32

var epochs = Kind[epoch]{
	Name:    driver.KindEpoch,
	ID:      func(e epoch) string { return e.Of },
	Index:   func(epoch) []string { return []string{"all"} },
	Version: func(e *epoch) *int64 { return &e.Version },
}

// with returns the epoch after the change of some documents.
func (e epoch) with(ids []string) epoch {
	e.Recent = slices.Clone(e.Recent)
	for _, id := range ids {
		e.N++
		e.Recent = append(e.Recent, changed{ID: id, Tag: rand.Text()[:10]})
	}
	e.Recent = e.Recent[max(0, len(e.Recent)-maxRecent):]
	return e
}

// mark holds how much of an epoch has been seen.
type mark struct {
	n       uint64
	tag     string
	version int64
}

func (e epoch) mark() mark {
	m := mark{n: e.N, version: e.Version}
	if len(e.Recent) > 0 {
		m.tag = e.Recent[len(e.Recent)-1].Tag
	}
	return m
}

// since returns the changes that a reader who had seen m has not. ok is false if the store has lost
// some that it had seen.
func (e epoch) since(m mark) (c state.Change, changed, ok bool) {
	c.Kind, _, _ = strings.Cut(e.Of, ".")
	if e.N < m.n || e.Version < m.version {
		return c, true, false
	}
	fresh := e.N - m.n
	if kept := uint64(len(e.Recent)); fresh >= kept && m.n > 0 || fresh > kept {
		return c, fresh > 0, true // too many to be named
	}
	at := len(e.Recent) - int(fresh)
	if m.n > 0 && e.Recent[at-1].Tag != m.tag {
		return c, true, false
	}
	for _, one := range e.Recent[at:] {
		c.IDs = append(c.IDs, one.ID)
	}
	return c, fresh > 0, true
}
