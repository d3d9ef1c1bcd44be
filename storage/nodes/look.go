package nodes

import (
	"context"
	"slices"
	"time"
)

// lookEvery is the pause between two readings of Look.
const lookEvery = beatEvery / 4

// Look watches the nodes for a process that is none itself, such as a command, until each of them has
// beaten or has missed its three beats: two seconds where all live, six where one does not.
func Look(ctx context.Context, store Store) ([]Info, error) {
	if !store.Shared() {
		return nil, nil
	}
	s := &observed{}
	began := time.Now()
	first, err := store.Beats(ctx)
	if err != nil {
		return nil, err
	}
	s.read(began, lookEvery, first)
	versions := map[string]int64{}
	for _, b := range first {
		versions[b.ID] = b.Version
	}
	for beats := first; ; {
		now := time.Now()
		waiting := slices.ContainsFunc(beats,
			func(b Beat) bool { return b.Version == versions[b.ID] && now.Sub(began) <= b.patience() })
		if !waiting {
			return s.infos(now, beats), nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lookEvery):
		}
		if beats, err = store.Beats(ctx); err != nil {
			return nil, err
		}
		s.read(time.Now(), lookEvery, beats)
	}
}
