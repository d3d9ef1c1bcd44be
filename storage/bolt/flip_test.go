package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// filled is a store with rows of every table, some of which lead to others.
func filled(t *testing.T) *Store {
	t.Helper()
	s, now := newStore(t), time.Unix(1.7e9, 12345)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		old := driver.Token{
			Key: handle.KeyOf(handle.New(handle.RefreshPrefix, now.Add(time.Duration(i)))), Kind: driver.KindRefresh,
			Grant: fmt.Sprint("grant", i), GrantedAt: now,
			AppID: "app", UserID: "user", Scope: "openid", IssuedAt: now, ExpiresAt: now.Add(time.Hour), LoginType: "self",
			IP: "192.0.2.1", SignIn: "é",
		}
		next := old
		next.Key = handle.KeyOf(handle.New(handle.RefreshPrefix, now.Add(time.Minute+time.Duration(i))))
		must(s.Issue(t.Context(), old))
		if i > 0 {
			must(s.Exchange(t.Context(), old.Key, now.Add(time.Minute), next))
		}
	}
	must(s.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: "grant9", Until: now.Add(time.Hour)},
		driver.Revocation{Kind: driver.RevokeUser, ID: "someone", Before: now}))
	must(s.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "someone", Before: now.Add(1)}))
	_, err := s.Put(t.Context(),
		driver.Doc{Kind: "app", ID: "a", Index: []string{"all", "owner=u1"}, Data: []byte(`{"domains":["localhost"]}`)},
		driver.Doc{Kind: "app", ID: "b", Index: []string{"all"}, Data: []byte("{\"x\":1}\n{\"s\":\"c2VhbGVk\"}")},
		driver.Doc{Kind: "session", ID: "s", ExpiresAt: now.Add(time.Hour), Data: []byte(`{"user":"u1"}`)},
		driver.Doc{Kind: "trail", ID: "head", Index: []string{"a0"}, Data: []byte{1, 2, 3, '}'}},
		driver.Doc{Kind: "empty", ID: "e"})
	must(err)
	must(s.Count(t.Context(), driver.Batch{Node: "n1", Seq: 7}, []driver.Count{{AppID: "app", Product: "ai", At: now,
		Calls: 3}, {AppID: "b", Product: "x", At: now, Calls: 1, Errors: 1}}))
	must(s.Append(t.Context(), driver.Record{At: now, Data: []byte(`{"n":1}`)}, driver.Record{At: now,
		Data: []byte(`{"n":2}`)}))
	must(s.Append(t.Context(), driver.Record{At: now, Data: []byte(`{"n":3}`)}))
	return s
}

// asked are answers of a store, by what was asked.
type asked map[string]func(context.Context, *Store) (any, error)

func questions(t *testing.T, s *Store) asked {
	t.Helper()
	all := asked{}
	for _, table := range transfer.Tables() {
		all["rows of "+string(table)] = func(ctx context.Context, s *Store) (any, error) {
			return s.Rows(ctx, table,
				nil, 1000)
		}
	}
	rows := func(table transfer.Table) []transfer.Row {
		found, err := s.Rows(t.Context(), table, nil, 1000)
		if err != nil || len(found) == 0 {
			t.Fatal(table, found, err)
		}
		return found
	}
	for _, r := range rows(transfer.Tokens) {
		key := driver.Key(r.Key)
		all[fmt.Sprintf("token %x", r.Key)] = func(ctx context.Context, s *Store) (any, error) { return s.Token(ctx, key) }
	}
	ids := [][2]string{{"app", "0"}, {"app", "aa"}, {"app", "c"}, {"session", "s0"}, {"user", "u"}}
	for _, r := range rows(transfer.Documents) {
		kind, id, _ := transfer.DocKey(r.Key)
		ids = append(ids, [2]string{kind, id})
	}
	for _, id := range ids {
		all["get "+id[0]+" "+id[1]] = func(ctx context.Context, s *Store) (any, error) { return s.Get(ctx, id[0], id[1]) }
	}
	for _, span := range []driver.Span{driver.Is("all"), driver.Is("owner=u1"), driver.Is("owner=u2"),
		driver.Between("", "z")} {
		all["list "+span.From] = func(ctx context.Context, s *Store) (any, error) {
			docs, next, err := s.List(ctx, "app", span, 10)
			return fmt.Sprint(docs, next), err
		}
	}
	all["feed"] = func(ctx context.Context, s *Store) (any, error) { return s.Revocations(ctx, 0, 10) }
	all["feed behind the last"] = func(ctx context.Context, s *Store) (any, error) { return s.Revocations(ctx, 3, 10) }
	all["covered"] = func(ctx context.Context, s *Store) (is any, err error) {
		err = s.view(ctx, func(tx *bbolt.Tx) error {
			for _, grant := range []string{"grant0", "grant9"} {
				covers, err := covered(tx, driver.Token{Grant: grant, UserID: "someone", AppID: "app"})
				if err != nil {
					return err
				}
				is = fmt.Sprint(is, covers)
			}
			return nil
		})
		return is, err
	}
	all["usage"] = func(ctx context.Context, s *Store) (any, error) {
		return s.Usage(ctx, driver.UsageQuery{AppID: "app", From: time.Unix(0, 0), To: time.Unix(1e10, 0)})
	}
	all["usage of days"] = func(ctx context.Context, s *Store) (any, error) {
		return s.UsageOf(ctx, []string{"app", "b", "none"}, driver.UsageQuery{From: time.Unix(0, 0), To: time.Unix(1e10,
			0), Daily: true})
	}
	all["records"] = func(ctx context.Context, s *Store) (any, error) { return s.Records(ctx, 0, 10) }
	all["records behind 1"] = func(ctx context.Context, s *Store) (any, error) { return s.Records(ctx, 1, 1) }
	all["picked"] = func(ctx context.Context, s *Store) (any, error) { return s.Pick(ctx, 1, 3, 4) }
	all["gathered"] = func(ctx context.Context, s *Store) (any, error) {
		return s.Gather(ctx, driver.Ask{Kind: "app", IDs: []string{"a", "b", "c"}}, driver.Ask{Kind: "app",
			Span: driver.Is("all"), N: 5})
	}
	return all
}

func (a asked) answers(ctx context.Context, s *Store) map[string]string {
	all := map[string]string{}
	for question, ask := range a {
		answer, err := ask(ctx, s)
		var row driver.Damaged
		switch {
		case errors.As(err, &row):
			all[question] = isDamaged
		case err != nil:
			all[question] = err.Error()
		default:
			all[question] = fmt.Sprint(answer)
		}
	}
	return all
}

const isDamaged = "damaged"

// A flipped bit in whatever row, in its key or in its value, is answered with an error by whom it concerns; all others
// have their answers as before.
func TestFlippedBitsAreNeverServed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := filled(t)
	ask := questions(t, s)
	good := ask.answers(t.Context(), s)
	silent := map[string]bool{} // rows that change no answer: they are found by Check
	for _, question := range slices.Sorted(maps.Keys(good)) {
		if good[question] == isDamaged {
			t.Fatalf("%s: %s", question, good[question])
		}
	}
	flips(t, s, sampled(), func(where string) {
		met := false
		for question, answer := range ask.answers(t.Context(), s) {
			if answer != good[question] && answer != isDamaged {
				t.Errorf("%s: %s is answered with %s, want %s", where, question, answer, good[question])
			}
			met = met || answer == isDamaged
		}
		if !met {
			silent[where] = true
		}
	})
	t.Logf("%d bits change no answer", len(silent))
	for question, answer := range ask.answers(t.Context(), s) {
		if answer != good[question] {
			t.Errorf("in the end: %s: %s, want %s", question, answer, good[question])
		}
	}
}

func TestFlippedBitIsFoundByTheCheck(t *testing.T) {
	s := filled(t)
	file, err := os.Open(s.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := checkOpened(s.db, file, Contents{}); err != nil {
		t.Fatal(err)
	}
	flips(t, s, sampled(), func(where string) {
		if checkOpened(s.db, file, Contents{}) == nil {
			t.Errorf("%s: it is not found", where)
		}
	})
}

// Bits are flipped anywhere in the rows of a larger store, up to three of them at once.
func TestFlippedBitsOfALargeStoreAreFound(t *testing.T) {
	s := filled(t)
	for i := range 300 {
		d := driver.Doc{Kind: "thing", ID: fmt.Sprint(i), Index: []string{"all", fmt.Sprint("n=", i%7)},
			Data: fmt.Appendf(nil, `{"text":%q}`, bytes.Repeat([]byte("x"), i))}
		if _, err := s.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.OpenFile(s.db.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, draw := spots(t, s), rand.New(rand.NewPCG(9, 9))
	for range 300 {
		var rows []string
		var back []func()
		for _, i := range draw.Perm(len(all))[:1+draw.IntN(3)] {
			at, byte, bit := all[i], draw.IntN(all[i].size), draw.IntN(8)
			at.flip(t, file, byte, bit)
			rows, back = append(rows, at.row), append(back, func() { at.flip(t, file, byte, bit) })
		}
		if checkOpened(s.db, file, Contents{}) == nil {
			t.Errorf("%v: it is not found", rows)
		}
		for _, undo := range back {
			undo()
		}
	}
}
