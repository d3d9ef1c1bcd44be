package people

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/apps"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
	"github.com/keystile/keystile/storage/tools"
)

// Some records of a user stay when they are erased. Each of these has at most their sub, which is
// never drawn again:
//
//   - usage, orders and removed applications: the accounts are kept, with the sub of the user who ordered;
//   - where usage is shipped elsewhere, the notes of the accounts that were charged in an hour, for 40 days;
//   - the audit trail, which is a chain: records end with its retention;
//   - access rules about user:SUB, which match nobody then. A list without its last rule would be no list,
//     and the default may let everybody in;
//   - revocations and spent or unspent tokens, until they expire: the former end the latter;
//   - the names of their capabilities that were deleted, which are kept from others for 90 days;
//   - the fences and the mark of the erasure, for a day, so that what is being written meanwhile ends too;
//   - what applications are told of the end of their sessions, and user events, until delivered or a week later;
//   - calls under an Idempotency-Key, for a day: hashes, which name nobody;
//   - where processes share the store, the list of users that have changed lately, until others push them out of it.
//
// Records that were shipped elsewhere by package gateway/stream, or exported, are out of reach: their keeper has to
// end them.
//
// Emails that wait in the outbox are sealed, and leave it within a day: a notice to a user who is gone
// is sent to nobody, but for the one that says that they have deleted their account, which holds its address.

// ErrStillOwns: a user who owns applications or capabilities is not erased.
var ErrStillOwns = fmt.Errorf("%w: the user owns applications or capabilities", document.ErrInvalid)

// CountOwned returns how many applications and capabilities a user (a sub) owns.
func (s *Store) CountOwned(ctx context.Context, sub string) (applications, capabilities int, err error) {
	for _, part := range []struct {
		kind string
		n    *int
	}{{apps.Apps.Name, &applications}, {tools.Capabilities.Name, &capabilities}} {
		for span := driver.Is("owner=" + sub); ; {
			docs, next, err := document.Backend(s.docs).List(ctx, part.kind, span, driver.Page)
			if err != nil {
				return 0, 0, document.Unavailable("list what a user owns", err)
			}
			*part.n += len(docs)
			if span.From = next; next == "" {
				break
			}
		}
	}
	return applications, capabilities, nil
}

// EraseUser removes a user who is Erasing, and what belongs to them, in bounded steps: sessions, factors, API keys,
// memberships of groups, consents, openids and begun sign-ins, and with the user in one last step the ways in and
// what their name looks like, so that the name is free when the user is gone and not before. looksOfName is that of
// ReserveSkeletons.
//
// It returns ErrStillOwns for a user who owns applications or capabilities. If it breaks off it is called again:
// what is left is a user who cannot sign in. Of a user who is gone it removes what is left, and returns nil.
//
// The caller has ended before what the user was granted, by a revocation.
func (s *Store) EraseUser(ctx context.Context, sub string, looksOfName func(username string) []string) error {
	u, err := s.User(ctx, sub)
	if err != nil && !errors.Is(err, document.ErrNotFound) {
		return err
	}
	if err == nil && !u.Erasing {
		return fmt.Errorf("%w: a user is erased who is disabled and Erasing", document.ErrInvalid)
	}
	if err := s.markErasure(ctx, sub); err != nil {
		return err
	}
	for _, kind := range slices.Concat(authn.OfUser, groups.OfUser, []string{consents.Name, openIDs.Name}) {
		if err := RemoveListed(ctx, s, kind, "user="+sub, 0); err != nil {
			return err
		}
	}
	if err := groups.Leave(ctx, s.docs, sub); err != nil {
		return err
	}
	if u.Sub == "" {
		return nil
	}
	for kind, left := range map[string]int{logins.Name: lastLogins, skeletons.Name: lastLooks} {
		if err := RemoveListed(ctx, s, kind, "user="+sub, left); err != nil {
			return err
		}
	}
	return s.eraseLast(ctx, sub, looksOfName)
}

const (
	eraseStep = 50 // records that are removed in one step

	// So many are removed with the user, and more than anybody has go before.
	lastLogins = 60
	lastLooks  = 20
)

// RemoveListed removes documents of a kind with an entry, also such as cannot be read, from the first one on
// until so many are left at most.
func RemoveListed(ctx context.Context, s *Store, kind, entry string, left int) error {
	_, err := document.RetryOnConflict(ctx, func() (struct{}, error) {
		for {
			docs, _, err := document.Backend(s.docs).List(ctx, kind, driver.Is(entry), left+eraseStep)
			if err != nil || len(docs) <= left {
				return struct{}{}, document.Unavailable("list "+kind, err)
			}
			if _, err := document.Write(ctx, s.docs, document.Removals(docs[:min(len(docs)-left, eraseStep)])...); err != nil {
				return struct{}{}, err
			}
		}
	})
	return err
}

// eraseLast removes the user, and what must not go before or stay behind.
func (s *Store) eraseLast(ctx context.Context, sub string, looksOfName func(string) []string) error {
	_, err := document.RetryOnConflict(ctx, func() (struct{}, error) {
		docs, err := s.lastOfUser(ctx, sub, looksOfName)
		if err != nil || len(docs) == 0 {
			return struct{}{}, err
		}
		err = tellingOf(ctx, s, toldDeleted(sub), func(queued []driver.Doc) error {
			_, err := document.WriteCounted(ctx, s.docs, document.Tally{Users: -1}, slices.Concat(docs, queued)...)
			return err
		})
		if errors.Is(err, document.ErrExists) { // a fence, which was not there
			err = document.ErrConflict
		}
		return struct{}{}, err
	})
	return err
}

// lastOfUser returns the documents of the last step, none if the user is gone. The fences are read before
// what the user owns, and written: of what somebody makes for the user meanwhile one of the two fails.
func (s *Store) lastOfUser(ctx context.Context, sub string, looksOfName func(string) []string) ([]driver.Doc, error) {
	u, err := s.User(ctx, sub)
	if errors.Is(err, document.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	mark, err := s.nextErasure(ctx, sub)
	if err != nil {
		return nil, err
	}
	docs, err := document.Docs(s.docs, document.Erasures, mark)
	if err != nil {
		return nil, err
	}
	for _, k := range []document.Kind[fence.Fence]{apps.Fences, tools.CapabilityFences} {
		f, err := document.Find(ctx, s.docs, k, sub)
		if err != nil {
			return nil, err
		}
		f.Owner, f.ExpiresAt = sub, mark.ExpiresAt
		d, err := k.Doc(s.docs, f)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	applications, capabilities, err := s.CountOwned(ctx, sub)
	if err == nil && applications+capabilities > 0 {
		err = ErrStillOwns
	}
	if err != nil {
		return nil, err
	}
	gone, err := s.waysOfUser(ctx, sub, looksOfName(u.Username))
	if err != nil {
		return nil, err
	}
	gone = append(gone, driver.Doc{Kind: Users.Name, ID: sub, Version: u.Version})
	return append(docs, document.Removals(gone)...), nil
}

// waysOfUser returns the ways in of a user, their looks, and what their removed applications have used.
func (s *Store) waysOfUser(ctx context.Context, sub string, looks []string) (gone []driver.Doc, err error) {
	seen := map[string]bool{}
	for kind, n := range map[string]int{logins.Name: lastLogins, skeletons.Name: lastLooks} {
		docs, _, err := document.Backend(s.docs).List(ctx, kind, driver.Is("user="+sub), n)
		if err != nil {
			return nil, document.Unavailable("list "+kind, err)
		}
		for _, d := range docs {
			seen[d.Kind+d.ID] = true
		}
		gone = append(gone, docs...)
	}
	older, err := looksOf(ctx, s.docs, sub, looks) // those that were stored before they had an entry are among them
	if err != nil {
		return nil, err
	}
	for _, d := range older {
		if !seen[d.Kind+d.ID] {
			gone = append(gone, d)
		}
	}
	used, err := document.Get(ctx, s.docs, apps.Spents, sub)
	if err == nil {
		gone = append(gone, driver.Doc{Kind: apps.Spents.Name, ID: sub, Version: used.Version})
	}
	if errors.Is(err, document.ErrNotFound) {
		err = nil
	}
	return gone, err
}
