package nodes

import (
	"cmp"
	"slices"
	"time"
)

// observed holds what one node has seen of the others.
type observed struct {
	self  string
	nodes map[string]*seen // without self
	last  time.Time        // when the last reading ended; zero: never
}

// seen is a beat of another node.
type seen struct {
	Beat
	moved time.Time // when a reading found that it had moved
	gone  bool      // it is missing since the reader's own beats were not stored for a while
}

func (s *seen) live(now time.Time) bool { return now.Sub(s.moved) <= s.patience() }

// read takes a reading of all beats, which ended at now. Readings are to be every apart.
func (s *observed) read(now time.Time, every time.Duration, beats []Beat) {
	paused := !s.last.IsZero() && now.Sub(s.last) > 2*every
	found := make(map[string]*seen, len(beats))
	for _, b := range beats {
		if b.ID == s.self {
			continue
		}
		was := s.nodes[b.ID]
		switch {
		case was == nil || was.Version != b.Version:
			was = &seen{Beat: b, moved: now}
		case paused && was.live(s.last):
			was.moved = now
		}
		found[b.ID] = was
	}
	for id, was := range s.nodes {
		switch {
		case found[id] != nil:
		case paused && was.live(s.last): // it may have been swept while nobody could write
			was.moved, was.gone = now, true
			found[id] = was
		case was.gone && was.live(now):
			found[id] = was
		}
	}
	s.nodes, s.last = found, now
}

// every returns how often each of the nodes beats.
func (s *observed) every() time.Duration {
	return max(beatEvery, time.Duration(len(s.nodes)+1)*beatShare)
}

// count returns how many nodes live, this one included.
func (s *observed) count(now time.Time) int {
	n := 1
	for _, other := range s.nodes {
		if other.live(now) {
			n++
		}
	}
	return n
}

// infos describes beats that were read now, the oldest node first.
func (s *observed) infos(now time.Time, beats []Beat) []Info {
	all := make([]Info, 0, len(beats))
	for _, b := range beats {
		i := Info{ID: b.ID, Name: b.Name, Build: b.Build, Started: b.Started, Ahead: b.Ahead, Live: true,
			Self: b.ID == s.self}
		if was := s.nodes[b.ID]; was != nil && was.Version == b.Version {
			i.Age, i.Live = now.Sub(was.moved), was.live(now)
		}
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return all
}
