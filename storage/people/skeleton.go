package people

import (
	"context"
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// skeleton records what a user's name looks like. Its id makes it unique to one user.
type skeleton struct {
	Text    string `json:"text"`
	UserID  string `json:"user"`
	Version int64  `json:"-"`
	carried
}

var skeletons = document.Kind[skeleton]{
	Name:    "look",
	ID:      func(l skeleton) string { return handle.Hash(l.Text) },            // of one length, however long the name
	Index:   func(l skeleton) []string { return []string{"user=" + l.UserID} }, // those of before have none
	Version: func(l *skeleton) *int64 { return &l.Version },
}

// skeletonsMade records that every user's skeletons of one version are stored.
type skeletonsMade struct {
	Of      string `json:"of"`
	Version int64  `json:"-"`
	carried
}

var skeletonMarks = document.Kind[skeletonsMade]{
	Name:    "looked",
	ID:      func(l skeletonsMade) string { return l.Of },
	Version: func(l *skeletonsMade) *int64 { return &l.Version },
}

func skeletonsOf(sub string, texts []string) []skeleton {
	var all []skeleton
	for _, text := range texts {
		if text != "" {
			all = append(all, skeleton{Text: text, UserID: sub})
		}
	}
	return all
}

// ReserveSkeletons stores what the names of all users look like who were created before
// CreateUser did so, so that no new user's may look the same. of identifies how looksOfName
// works: once all are stored for it, nothing is done again. Two users whose names look the same
// already both stay as they are.
func (s *Store) ReserveSkeletons(ctx context.Context, of string, looksOfName func(username string) []string) error {
	if _, err := document.Get(ctx, s.docs, skeletonMarks, of); !errors.Is(err, document.ErrNotFound) {
		return err
	}
	for from := ""; ; {
		page, next, err := s.Users(ctx, from, driver.Page)
		if err != nil {
			return err
		}
		var all []skeleton
		for _, u := range page {
			all = append(all, skeletonsOf(u.Sub, looksOfName(u.Username))...)
		}
		for some := range slices.Chunk(all, driver.MaxPut) {
			if err := reserve(ctx, s.docs, some); err != nil {
				return err
			}
		}
		if err := s.dropErased(ctx, page, looksOfName); err != nil {
			return err
		}
		if next == "" {
			break
		}
		from = next
	}
	if _, err := document.Put(ctx, s.docs, skeletonMarks, skeletonsMade{Of: of}); !errors.Is(err, document.ErrExists) {
		return err
	}
	return nil
}

// dropErased removes what the names of users look like who were erased while it was stored.
func (s *Store) dropErased(ctx context.Context, page []User, looksOfName func(username string) []string) error {
	erased, err := document.All(ctx, s.docs, document.Erasures, driver.Is("all"))
	if err != nil {
		return err
	}
	for _, u := range page {
		if slices.ContainsFunc(erased, func(e document.Erasure) bool { return e.Sub == u.Sub }) {
			if err := removeLooks(ctx, s.docs, u.Sub, looksOfName(u.Username)); err != nil {
				return err
			}
		}
	}
	return nil
}

// reserve writes those of some skeletons that are missing. It looks again when another writer
// was faster with one.
func reserve(ctx context.Context, in *document.Store, some []skeleton) error {
	for {
		missing, seen := []skeleton{}, map[string]bool{}
		for _, l := range some {
			_, err := document.Get(ctx, in, skeletons, skeletons.ID(l))
			switch {
			case err != nil && !errors.Is(err, document.ErrNotFound):
				return err
			case err != nil && !seen[l.Text]:
				missing, seen[l.Text] = append(missing, l), true
			}
		}
		if len(missing) == 0 {
			return nil
		}
		docs, err := document.Docs(in, skeletons, missing...)
		if err != nil {
			return err
		}
		if _, err := document.Write(ctx, in, docs...); !errors.Is(err, document.ErrExists) {
			return err
		}
	}
}

// looksOf returns the documents of those of some skeletons that are a user's.
func looksOf(ctx context.Context, in *document.Store, sub string, texts []string) (docs []driver.Doc, err error) {
	seen := map[string]bool{}
	for _, l := range skeletonsOf(sub, texts) {
		was, err := document.Get(ctx, in, skeletons, skeletons.ID(l))
		if err != nil && !errors.Is(err, document.ErrNotFound) {
			return nil, err
		}
		if err == nil && was.UserID == sub && !seen[l.Text] {
			seen[l.Text] = true
			docs = append(docs, driver.Doc{Kind: skeletons.Name, ID: skeletons.ID(l), Version: was.Version})
		}
	}
	return docs, nil
}

// removeLooks removes those of some skeletons that are a user's.
func removeLooks(ctx context.Context, in *document.Store, sub string, texts []string) error {
	_, err := document.RetryOnConflict(ctx, func() (int64, error) {
		docs, err := looksOf(ctx, in, sub, texts)
		if err != nil {
			return 0, err
		}
		return document.Write(ctx, in, document.Removals(docs)...)
	})
	return err
}
