package importacts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/importacts"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// town is a store, the acts over it, and the audit trail.
type town struct {
	*testing.T
	*importacts.Acts
	store *storage.Store
	users *users.StoreUsers

	mu    sync.Mutex
	trail []event.Event
	away  error // what the trail answers
}

var key = storage.NewMasterKey()

func newTown(t *testing.T, backend driver.Backend) *town {
	t.Helper()
	store, err := storage.Open(t.Context(), backend, key)
	if err != nil {
		t.Fatal(err)
	}
	w := &town{T: t, store: store, users: users.New(store, passwords.New(passwords.Cost{Memory: 8, Passes: 1}))}
	w.Acts = importacts.New(importacts.Config{Store: store, Recorder: admin.Recorder{Trail: w}, Adopt: w.users.Adopt,
		Mailbox: users.NormalizeEmail, Issuers: map[string]string{"https://id.example.com/realms/a:b": "corp"}})
	return w
}

func (w *town) NoteNow(_ context.Context, e event.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trail = append(w.trail, e)
	return w.away
}

// is imports rows, and says what became of each.
func (w *town) is(dry bool, rows ...importacts.Row) (all []string) {
	w.Helper()
	out, err := w.Import(w.Context(), admin.Operator("here"), rows, dry)
	if err != nil {
		w.Fatal(err)
	}
	for _, o := range out {
		all = append(all, strings.TrimSuffix(o.Is+": "+o.Reason, ": "))
	}
	return all
}

func (w *town) want(what string, got []string, want ...string) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("%s: %q, want %q", what, got, want)
	}
}

// told is all that is known of the user of a row.
func (w *town) told(r importacts.Row) string {
	w.Helper()
	l, err := w.store.Login(w.Context(), storage.LoginSelf, r.Username)
	if err != nil {
		w.Fatal(r.Username, err)
	}
	u, err := w.store.User(w.Context(), l.UserID)
	if err != nil {
		w.Fatal(err)
	}
	var ways []string
	logins, err := w.store.Logins(w.Context(), u.Sub)
	if err != nil {
		w.Fatal(err)
	}
	for _, l := range logins {
		ways = append(ways, l.Method+"="+l.Subject)
	}
	in, err := w.store.GroupsOf(w.Context(), u.Sub)
	if err != nil {
		w.Fatal(err)
	}
	var groups []string
	for _, g := range in {
		groups = append(groups, g.Name)
	}
	return fmt.Sprint(u.Username, u.Email, u.EmailVerified, u.Name, u.Nickname, u.Attributes, u.Role, u.Disabled,
		ways, groups, l.PasswordHash)
}

func people(n int) (rows []importacts.Row) {
	for i := range n {
		rows = append(rows, importacts.Row{Username: fmt.Sprintf("user%02d", i), Email: fmt.Sprintf("u%d@example.com", i),
			EmailVerified: i%2 == 0, Groups: []string{"all", fmt.Sprint("team-", i%4)},
			Attributes: map[string]string{"n": fmt.Sprint(i)}, ExternalIDs: []string{fmt.Sprint("github:o:", i)}})
	}
	return rows
}

func TestUserIsMadeWithAllThatTheRowSays(t *testing.T) {
	w := newTown(t, memory.New())
	row := importacts.Row{Username: "ada", Email: "Ada@Example.com", EmailVerified: true, Name: "Ada L", Nickname: "A",
		PasswordHash: "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", Groups: []string{"ops", "dev", "ops"},
		Attributes: map[string]string{"dept": "r d"}, ExternalIDs: []string{"oidc:https://id.example.com/realms/a:b:7:7",
			"oidc:http://[::1]:80/x:s:1", "oidc:https://b.example:443:1", "github:o:x:1", "wecom:o:corp:ada"}}
	w.want("ada", w.is(false, row), "made")
	want := "adaada@example.comtrueAda LAmap[dept:r d]false [corp=i:https://id.example.com/realms/a:b#7:7 " +
		"email=ada@example.com github=o:x:1 oidc=i:http://[::1]:80/x#s:1 oidc=i:https://b.example:443#1 self=ada " +
		"wecom=o:corp:ada] [dev ops]" + row.PasswordHash
	if got := w.told(row); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for range 2 { // before and after the hash is renewed
		u, err := w.users.Authenticate(t.Context(), "ada", "U*U")
		if err != nil || u.Username != "ada" {
			t.Fatal(u, err)
		}
		if _, err := w.users.Authenticate(t.Context(), "ada", "U*U*"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("another password: %v", err)
		}
	}
	if l, err := w.store.Login(t.Context(), storage.LoginSelf, "ada"); err != nil ||
		!strings.HasPrefix(l.PasswordHash, "$argon2id$") {
		t.Errorf("after a sign-in the hash is %q, %v", l.PasswordHash, err)
	}
	w.want("the same row", w.is(false, row), "passed")
}

func TestAuditTrailHasEachUserGroupAndImport(t *testing.T) {
	w := newTown(t, memory.New())
	w.is(false, people(2)...)
	w.is(true, people(4)...)
	totals := importacts.Totals{Format: "csv", Made: 2, Refused: 1}
	if err := w.Finish(t.Context(), admin.Operator("here"), totals); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range w.trail {
		text := e.Detail
		if e.User != "" {
			text = strings.ReplaceAll(text, e.User, "SUB")
		}
		got = append(got, text)
	}
	slices.Sort(got)
	w.want("the trail", got, "group create all by here", "group create team-0 by here", "group create team-1 by here",
		`user create SUB by here: username "" -> "user00"; email "" -> "u0@example.com"; email_verified false -> true; `+
			"attribute n none -> set; groups none -> all, team-0",
		`user create SUB by here: username "" -> "user01"; email "" -> "u1@example.com"; `+
			"attribute n none -> set; groups none -> all, team-1",
		"user import csv by here: 2 users made; 0 rows passed over; 1 rows refused")
	w.away = errors.New("away")
	_, err := w.Import(t.Context(), admin.Operator("here"), people(3), false)
	if unrecorded := (*admin.Unrecorded)(nil); !errors.As(err, &unrecorded) {
		t.Errorf("a trail that cannot be written: %v", err)
	}
}

func TestOnlyTheOperatorImports(t *testing.T) {
	w := newTown(t, memory.New())
	for who, by := range map[string]admin.Actor{
		"nobody": {}, "an administrator": {User: storage.User{Sub: "u1", Role: storage.RoleAdmin}, Proved: true},
		"an application": {Application: "ks1"}, "an auditor": {User: storage.User{Sub: "u1", Role: storage.RoleAuditor}},
	} {
		if _, err := w.Import(t.Context(), by, people(1), true); !errors.Is(err, importacts.ErrNotOperator) {
			t.Errorf("%s imports: %v", who, err)
		}
		if err := w.Finish(t.Context(), by, importacts.Totals{}); !errors.Is(err, importacts.ErrNotOperator) {
			t.Errorf("%s finishes: %v", who, err)
		}
	}
}

func TestRowIsRefusedWithItsReasonAndNothingOfItIsMade(t *testing.T) {
	w := newTown(t, memory.New())
	taken := importacts.Row{Username: "ada", Email: "ada@example.com", EmailVerified: true, ExternalIDs: []string{"x:1"}}
	w.want("ada", w.is(false, taken), "made")
	long := strings.Repeat("x", 201)
	many := make([]string, 201)
	for i := range many {
		many[i] = fmt.Sprint("g", i)
	}
	for what, c := range map[string]struct {
		row  importacts.Row
		want string
	}{
		"another row":  {importacts.Row{Username: "Ada"}, `username "Ada" is taken, or looks like one that is`},
		"a look-alike": {importacts.Row{Username: "adа"}, "username"},
		"ada's twin":   {importacts.Row{Username: "ádá"}, "looks like one that is"},
		"a verified one": {importacts.Row{Username: "bob", Email: "ADA@example.com", EmailVerified: true},
			`email "ada@example.com" is verified and belongs to another user`},
		"an external id": {importacts.Row{Username: "bob", ExternalIDs: []string{"x:1"}},
			"external id x:1 belongs to another user"},
		"no username": {importacts.Row{}, "username"},
		"a name":      {importacts.Row{Username: "bob", Name: long}, "name: one line of text, of at most 200 bytes"},
		"a nickname":  {importacts.Row{Username: "bob", Nickname: "a\nb"}, "nickname"},
		"no address": {importacts.Row{Username: "bob", Email: "nobody", EmailVerified: true},
			`email "nobody" is verified, so the user signs in by it`},
		"a group": {importacts.Row{Username: "bob", Groups: []string{"new", "Ops"}},
			`groups: "Ops": the name of a group is`},
		"many groups": {importacts.Row{Username: "bob", Groups: many}, "at most 200 groups"},
		"an attribute": {importacts.Row{Username: "bob", Attributes: map[string]string{"Dept": "x"}},
			`attributes: "Dept"`},
		"a hash": {importacts.Row{Username: "bob", PasswordHash: "$6$x$y"}, "password hash: give bcrypt"},
		"a dear hash": {importacts.Row{Username: "bob", PasswordHash: "$2b$20$" + strings.Repeat("a", 53)},
			"costs more than is computed"},
		"an id of no issuer": {importacts.Row{Username: "bob", ExternalIDs: []string{"oidc:https://x"}},
			"write oidc:ISSUER:SUB"},
		"a username as id": {importacts.Row{Username: "bob", ExternalIDs: []string{"self:ada"}}, "write oidc:ISSUER:SUB"},
		"an address as id": {importacts.Row{Username: "bob", ExternalIDs: []string{"email:x@example.com"}},
			"write oidc:ISSUER:SUB"},
		"an id without one": {importacts.Row{Username: "bob", ExternalIDs: []string{"github:"}}, "write oidc:ISSUER:SUB"},
		"many ids":          {importacts.Row{Username: "bob", ExternalIDs: many}, "external_ids: at most 20"},
	} {
		c.row.Groups = append(c.row.Groups, "new")
		for _, dry := range []bool{true, false} {
			if got := w.is(dry, c.row); !strings.HasPrefix(got[0], importacts.Refused) || !strings.Contains(got[0], c.want) {
				t.Errorf("%s: %q, want %q", what, got, c.want)
			}
		}
	}
	if _, err := w.store.Group(t.Context(), "new"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the group of refused rows: %v", err)
	}
	if c, err := w.store.Counts(t.Context()); err != nil || c.Users != 1 {
		t.Errorf("%d users, %v", c.Users, err)
	}
	w.want("two of a name", w.is(false, importacts.Row{Username: "eve"}, importacts.Row{Username: "EVE"},
		importacts.Row{Username: "eve"}), "made", "refused: "+importacts.TwiceInFile, "passed")
}

// mortal is a backend that dies: from a write on it answers nothing any more.
type mortal struct {
	driver.Backend
	left *atomic.Int64
}

var errDead = errors.New("killed")

func (m mortal) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if m.left.Add(-1) < 0 {
		return 0, errDead
	}
	return m.Backend.Put(ctx, docs...)
}

func TestImportThatIsKilledAnywhereAndRepeatedEndsTheSame(t *testing.T) {
	rows := people(30)
	rows = append(rows, rows[3], importacts.Row{Username: "USER04"},
		importacts.Row{Username: "bad", Groups: []string{"Bad"}})
	import3 := func(w *town) (all []string, err error) {
		for part := range slices.Chunk(rows, 11) {
			out, err := w.Import(t.Context(), admin.Operator("here"), part, false)
			if err != nil {
				return nil, err
			}
			for _, o := range out {
				all = append(all, o.Is)
			}
		}
		return all, nil
	}
	states := func(w *town) (all []string) {
		for _, r := range rows[:30] {
			all = append(all, w.told(r))
		}
		c, err := w.store.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return append(all, fmt.Sprint(c.Users))
	}
	whole := newTown(t, memory.New())
	if _, err := import3(whole); err != nil {
		t.Fatal(err)
	}
	want := states(whole)
	if want[30] != "30" {
		t.Fatal(want)
	}
	killed := 0
	for writes := int64(0); ; writes++ {
		backend, left := memory.New(), new(atomic.Int64)
		left.Store(1 << 40)
		first := newTown(t, mortal{backend, left})
		left.Store(writes)
		_, err := import3(first)
		if err == nil {
			break
		}
		killed++
		again := newTown(t, backend)
		out, err := import3(again)
		if err != nil {
			t.Fatal(writes, err)
		}
		for i, is := range out {
			if (is == importacts.Refused) != (i > 30) {
				t.Errorf("killed at write %d: row %d is %s", writes, i, is)
			}
		}
		if got := states(again); !slices.Equal(got, want) {
			t.Fatalf("killed at write %d:\n%q\nwant\n%q", writes, got, want)
		}
		out, err = import3(again)
		if slices.Contains(out, importacts.Made) || err != nil {
			t.Errorf("a third time: %q, %v", out, err)
		}
	}
	if killed < 10 {
		t.Errorf("killed at %d writes only", killed)
	}
}

func TestDryRunSaysTheSameAndWritesNothing(t *testing.T) {
	rows := append(people(3), importacts.Row{Username: "USER01"}, importacts.Row{Username: "x", Groups: []string{"X"}})
	backend, left := memory.New(), new(atomic.Int64)
	left.Store(1 << 40)
	w := newTown(t, mortal{backend, left})
	w.is(false, importacts.Row{Username: "first"}) // what the names of all users look like is stored by now
	left.Store(0)
	dry := w.is(true, rows...)
	if len(w.trail) != 1 {
		t.Errorf("%d records", len(w.trail))
	}
	left.Store(1 << 40)
	w.want("for good", w.is(false, rows...), dry...)
	w.want("dry, then", w.is(true, rows...), "passed", "passed", "passed",
		`refused: username "USER01" is taken, or looks like one that is`, dry[4])
}

// A claim outlives its part: a dry run knows what an earlier part would have made.
func TestClaimsAreThoseOfEarlierRows(t *testing.T) {
	w := newTown(t, memory.New())
	c := importacts.Claims{}
	for i, want := range []struct{ same, taken bool }{{}, {true, true}, {false, true}, {false, true}, {}} {
		row := []importacts.Row{{Username: "ada", Email: "a@example.com", EmailVerified: true},
			{Username: "ada", Email: "a@example.com", EmailVerified: true}, {Username: "ADA"},
			{Username: "bob", Email: "a@example.com", EmailVerified: true}, {Username: "bob"}}[i]
		out, err := w.Import(t.Context(), admin.Operator("here"), []importacts.Row{row}, true)
		if err != nil || out[0].Is != importacts.Made {
			t.Fatal(out, err)
		}
		if same, taken := c.Take(out[0].Names, out[0].Mark); same != want.same || taken != want.taken {
			t.Errorf("row %d: %t, %t", i, same, taken)
		}
	}
}
