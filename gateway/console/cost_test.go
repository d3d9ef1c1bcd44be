package console_test

import (
	"slices"
	"testing"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
)

const (
	ofVisitor = 3 // calls for each page: a session, its user, and what else the user has to prove if it is of one factor
	mostCalls = 5 // of a page, with those of the visitor
	ofFailure = 6 // calls for a page that is not shown: the visitor is looked up for it and for the page that says so
)

// dearer pages take so many calls beside those of the visitor. A page is added here by decision alone: there
// is none. The audit trail of this scene is not in the store: a page of a search takes three reads (the index,
// what is not indexed yet, the records), and mostly one more where it goes far back or has several conditions:
// each depends on what the one before holds. That is five to six with those of the visitor.
var dearer = map[string]int{}

// alsoAsked are queries that read something of their own.
var alsoAsked = map[string][]string{
	"/console/usage":  {"?client_id={client_id}&by=tool", "?client_id={client_id}&by=member"},
	"/console/grants": {"?client_id={client_id}"},
}

// Every page that a console serves, for each role that sees it.
func TestPageAsksTheStoreFiveTimesAtMost(t *testing.T) {
	s := newScene(t)
	shown := 0
	for _, q := range served(console.Parts(s.console)) {
		if q.method != "GET" || q.path[:5] == "/api/" {
			continue
		}
		queries := asked[q.path]
		if queries == nil {
			queries = []string{""}
		}
		for _, q.query = range slices.Concat(queries, alsoAsked[q.path]) {
			for _, role := range []string{"admin", "auditor", "developer", "owner"} {
				of := role
				s.sends(q, role, of) // what changes slowly is read once in a while
				s.written.since()
				w, _ := s.sends(q, role, of)
				_, calls := s.written.since()
				most := max(mostCalls, ofVisitor+dearer[q.path])
				if w.Code != 200 {
					most = max(most, ofFailure)
				}
				if calls > most || calls < 2 && w.Code == 200 {
					t.Errorf("%s for %s asks the store %d times", q.name(), role, calls)
				}
				if w.Code == 200 {
					shown++
				}
				if w.Code == 200 && w.Body.Len() > 60<<10 {
					t.Errorf("%s for %s has %d bytes", q.name(), role, w.Body.Len())
				}
			}
		}
	}
	if shown < 80 {
		t.Errorf("only %d pages were shown", shown)
	}
}

// The user of a session is read once for each request, and each request reads it: what was changed a
// moment ago counts.
func TestDisabledUserAndAChangedRoleCountAtOnce(t *testing.T) {
	b := &counted{Backend: backend.New(t)}
	h := newNode(t, b, storage.NewMasterKey())
	root := h.testUser("root", storage.RoleAdmin)
	h.testUser("other", storage.RoleAdmin)
	status := func() int { return h.open("/console/users/new", root.cookie).Code }
	b.reads.Store(0)
	if code := status(); code != 200 || b.reads.Load() != 3 {
		t.Errorf("a page that reads nothing is %d after %d reads, of a session, its user and their factors", code,
			b.reads.Load())
	}
	var got []int
	for _, change := range []func(u *storage.User){
		func(u *storage.User) { u.Role = storage.RoleAuditor },
		func(u *storage.User) { u.Role = "" },
		func(u *storage.User) { u.Role = storage.RoleAdmin },
		func(u *storage.User) { u.Disabled = true },
		func(u *storage.User) { u.Disabled = false },
	} {
		u := must(h.store.User(t.Context(), root.Sub))(t)
		change(&u)
		must(h.store.SaveUser(t.Context(), u))(t)
		got = append(got, status())
	}
	if want := []int{403, 403, 200, 401, 200}; !slices.Equal(got, want) {
		t.Errorf("the statuses are %v, want %v", got, want)
	}
}
