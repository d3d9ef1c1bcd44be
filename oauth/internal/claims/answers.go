package claims

import (
	"context"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// maxAnswers bounds the answers that are kept, of about 0.7 KB each.
const maxAnswers = 65_536

// Answers makes the answers of userinfo.
type Answers struct {
	issuer string
	read   func(ctx context.Context, sub string) (storage.User, error)
	known  *memo[about, *reply.Prepared] // nil: nothing is kept
}

// about says what an answer is about.
type about struct {
	sub  string
	open Parts
}

// NewAnswers makes an Answers of users as read returns them. Where told says that Changed is called with all
// changes of them, answers are kept.
func NewAnswers(issuer string, read func(ctx context.Context, sub string) (storage.User, error), told bool) *Answers {
	a := &Answers{issuer: issuer, read: read}
	if told {
		a.known = newMemo[about, *reply.Prepared](maxAnswers)
	}
	return a
}

// Of returns the answer about an enabled user, nil about one who is disabled. Its error is that of reading
// the user.
func (a *Answers) Of(ctx context.Context, sub string, open Parts) (*reply.Prepared, error) {
	if a.known == nil {
		return a.make(ctx, sub, open)
	}
	answer, begun, ok := a.known.get(about{sub, open})
	if ok {
		return answer, nil
	}
	answer, err := a.make(ctx, sub, open)
	if err != nil || answer == nil {
		return nil, err
	}
	a.known.put(about{strings.Clone(sub), open}, answer, begun) // a copy: sub is a part of its token's memory
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
	var changed []about
	for _, sub := range c.IDs {
		for open := range Parts(all) {
			changed = append(changed, about{sub, open})
		}
	}
	a.known.drop(c.IDs == nil, changed...)
}
