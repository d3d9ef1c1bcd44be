package urlpath

// Set holds paths as Covers takes them, for callers that ask on every request. It does not change.
type Set struct {
	by   [256][]string // the letter behind the slash: few paths share one
	rest []string      // that have none
}

// NewSet makes a Set.
func NewSet(paths []string) *Set {
	s := new(Set)
	for _, p := range paths {
		if len(p) < 2 {
			s.rest = append(s.rest, p)
		} else {
			s.by[p[1]] = append(s.by[p[1]], p)
		}
	}
	return s
}

// Covers reports whether a path is in the Set, or below a path in it that ends in a slash.
func (s *Set) Covers(path string) bool {
	return len(path) > 1 && Covers(s.by[path[1]], path) || Covers(s.rest, path)
}
