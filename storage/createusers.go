package storage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/people"
	"github.com/keystile/keystile/storage/service"
)

// documentsOf returns how many documents a new user is written as, at most.
func documentsOf(n people.Newcomer, in []groups.Group, told bool) int {
	const groupsInOne = 50
	count := 1 + len(n.By) + (len(in)+groupsInOne-1)/groupsInOne
	for _, l := range n.By {
		count += len(slices.DeleteFunc(slices.Clone(l.Skeletons[:]), func(text string) bool { return text == "" }))
	}
	if told {
		count += 2 // the event, and an older one that it pushes out
	}
	return count
}

// stepsAtOnce bounds how many steps are on their way at a time: an adapter may write them together.
const stepsAtOnce = 64

// CreateUsers is CreateUser for many; in has the groups of each. Each user is written in one step with all that is
// theirs, and with as many others as fit into it; several steps are written at once. It returns the users in order;
// those who were not made have the Version 0. ErrExists: in some steps a name is somebody's, or two users have the same
// one. Nothing of these is written.
func (s *Store) CreateUsers(ctx context.Context, all []people.Newcomer, in [][]groups.Group) (made []User, err error) {
	made = make([]User, len(all))
	if len(all) == 0 {
		return made, nil
	}
	if slices.ContainsFunc(all, foreign) {
		if err := document.RequireFeature(ctx, s.documents, document.ForeignPasswords); err != nil {
			return made, err
		}
	}
	webhook, err := s.Setting(ctx, service.SettingUserWebhook)
	if err != nil {
		return made, err
	}
	number, err := people.ReserveNumbers(ctx, s.peopleStore, len(all))
	if err != nil {
		return made, err
	}
	var work sync.WaitGroup
	room := make(chan struct{}, stepsAtOnce)
	ends := stepsOf(all, in, webhook != "")
	errs := make([]error, len(ends))
	from := 0
	for i, to := range ends {
		step := s.joining(all[from:to], in[from:to], number+int64(from))
		into := made[from:to]
		room <- struct{}{}
		work.Go(func() {
			defer func() { <-room }()
			var done []User
			if done, errs[i] = people.CreateAll(ctx, s.peopleStore, step, document.Tally{}); errs[i] == nil {
				copy(into, done)
			}
		})
		from = to
	}
	work.Wait()
	for _, wrong := range errs {
		if err = wrong; err != nil && !errors.Is(err, ErrExists) {
			return made, err
		}
	}
	return made, errors.Join(errs...)
}

// foreign reports whether a user has a password hash of another product.
func foreign(n people.Newcomer) bool {
	return slices.ContainsFunc(n.By, func(l Login) bool {
		return l.PasswordHash != "" && !strings.HasPrefix(l.PasswordHash, "$argon2id$")
	})
}

// stepsOf returns where the steps end that users are written in.
func stepsOf(all []people.Newcomer, in [][]groups.Group, told bool) (ends []int) {
	const most = driver.MaxPut - 1 // and the counter
	size := 0
	for i, n := range all {
		one := documentsOf(n, in[i], told)
		if size += one; size > most && i > 0 {
			ends, size = append(ends, i), one
		}
	}
	return append(ends, len(all))
}

// joining returns users with the numbers from one on, who are written together with their memberships.
func (s *Store) joining(some []people.Newcomer, in [][]groups.Group, number int64) []people.Newcomer {
	step := slices.Clone(some)
	for i := range step {
		step[i].User.ID = number + int64(i)
		step[i].Along = func(sub string) ([]driver.Doc, error) { return groups.Joined(s.groupStore, sub, in[i]) }
	}
	return step
}
