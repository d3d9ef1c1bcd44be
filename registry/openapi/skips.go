package openapi

import (
	"errors"
	"slices"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage/toolplan"
)

// skips collects what is left out of a document.
//
// Parts that most documents have and no call needs, such as a body that may be sent as XML too, share one line for
// each reason, behind all others, which says that it is usual.
type skips struct {
	list   []toolplan.Skip
	seen   map[toolplan.Skip]bool // several tools may share a piece
	usual  []toolplan.Skip        // each reason once, at its first place
	places map[string]*place      // of usual, by reason
}

// place holds where a usual reason was found.
type place struct {
	at        int    // in usual
	pointer   string // the first
	elsewhere bool   // too
}

// maxSeen bounds what is listed.
const maxSeen = 10_000

func (s *skips) add(n toolschema.Node, reason string) {
	if len(s.list) >= maxSeen {
		return
	}
	s.addSkip(toolplan.Skip{Pointer: toolschema.Text(n.Pointer()), Reason: toolschema.Text(reason)})
}

func (s *skips) addSkip(skip toolplan.Skip) {
	if len(s.list) >= maxSeen || s.seen[skip] {
		return
	}
	if s.seen == nil {
		s.seen = map[toolplan.Skip]bool{}
	}
	s.seen[skip] = true
	s.list = append(s.list, skip)
}

// addUsual adds what documents have in many places and calls do without, such as bodies that may be sent as XML
// too: one line for each reason, which says whether it holds elsewhere.
func (s *skips) addUsual(n toolschema.Node, reason string) {
	reason = toolschema.Text(reason)
	switch p := s.places[reason]; {
	case p == nil && len(s.usual) < maxSeen:
		if s.places == nil {
			s.places = map[string]*place{}
		}
		s.places[reason] = &place{at: len(s.usual), pointer: n.Pointer()}
		s.usual = append(s.usual, toolplan.Skip{Pointer: toolschema.Text(n.Pointer()), Reason: reason, Usual: true})
	case p != nil && !p.elsewhere && n.Pointer() != p.pointer:
		p.elsewhere = true
		s.usual[p.at].Reason = toolschema.Text(reason + " (here and elsewhere)")
	}
}

// all returns everything that was left out, what is usual last.
func (s *skips) all() []toolplan.Skip { return slices.Concat(s.list, s.usual) }

// attachTo adds the list to an error that is a Rejection, and returns the error.
func (s *skips) attachTo(err error) error {
	var r *Rejection
	if errors.As(err, &r) {
		r.Skipped = s.all()
	}
	return err
}
