package claims

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

const (
	// maxAnswers bounds the answers that are kept, of about 0.7 KB each.
	maxAnswers = 65_536
	// maxAge bounds how long one is kept. It is for changes that nobody tells of: by a node of an older
	// version, or by a second Store that a host has opened on the Backend of one process.
	maxAge = 5 * time.Second
)

// Answers makes the answers of userinfo.
type Answers struct {
	issuer string
	read   func(ctx context.Context, sub string) (storage.User, error)
	known  *cache.Cache[about, kept] // nil: nothing is kept

	mu      sync.Mutex // held to keep and to drop answers, not to find them
	changes uint64     // how many there were of users
}

// about says what an answer is about.
type about struct {
	sub  string
	open Parts
}

type kept struct {
	answer *reply.Prepared
	read   time.Time
}

// NewAnswers makes an Answers of users as read returns them. Where told says that Changed is called with all
// changes of them, answers are kept.
func NewAnswers(issuer string, read func(ctx context.Context, sub string) (storage.User, error), told bool) *Answers {
	a := &Answers{issuer: issuer, read: read}
	if told {
		a.known = cache.New[about, kept](maxAnswers)
	}
	return a
}

// Of returns the answer about an enabled user, nil about one who is disabled. Its error is that of reading
// the user.
func (a *Answers) Of(ctx context.Context, sub string, open Parts) (*reply.Prepared, error) {
	if a.known == nil {
		return a.make(ctx, sub, open)
	}
	now := time.Now()
	if k, ok := a.known.Get(about{sub, open}); ok && now.Sub(k.read) < maxAge {
		return k.answer, nil
	}
	a.mu.Lock()
	before := a.changes
	a.mu.Unlock()
	answer, err := a.make(ctx, sub, open)
	if err != nil || answer == nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if before == a.changes {
		a.known.Put(about{strings.Clone(sub), open}, kept{answer, now}) // a copy: sub is a part of its token's memory
	}
	return answer, nil
}

func (a *Answers) make(ctx context.Context, sub string, open Parts) (*reply.Prepared, error) {
	u, err := a.read(ctx, sub)
	if err != nil || u.Disabled {
		return nil, err
	}
	return reply.Prepare(AppendUserInfo(nil, u, a.issuer, open)), nil
}

// Changed drops the answers about users who have changed.
func (a *Answers) Changed(c storage.Change) {
	if c.Kind != storage.ChangedUsers || a.known == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes++
	if c.IDs == nil {
		a.known.Clear()
	}
	for _, sub := range c.IDs {
		for open := range Parts(all) {
			a.known.Delete(about{sub, open})
		}
	}
}
