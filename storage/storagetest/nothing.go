package storagetest

import (
	"fmt"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// nothing are promises about what is empty.
func nothing() []promise {
	return []promise{
		{name: "Put of nothing is version 0, and changes no document", test: func(t testing.TB, b driver.Backend) {
			empty := func() {
				t.Helper()
				for _, docs := range [][]driver.Doc{nil, {}} {
					version, err := b.Put(t.Context(), docs...)
					if want(t, "Put()", err, nil); version != 0 {
						t.Fatalf("Put() = version %d, want 0", version)
					}
				}
			}
			empty()
			d := doc("a", "all")
			d.Version = put(t, b, d)
			empty()
			sameDoc(t, get(t, b, "a"), d)
			lists(t, b, driver.Is("all"), "a")
			d.Version = put(t, b, d)
		}},
		{name: "empty Data and Index, nil or not, come back empty", test: emptyLists},
		{name: "Data is kept byte for byte, also where it looks like JSON, an escape or a number", test: plainBytes},
		{name: "an empty list is nothing to issue, to revoke, to count, to append",
			test: func(t testing.TB, b driver.Backend) {
				x := token("a")
				issue(t, b, []driver.Token{}...)
				issue(t, b, x)
				want(t, "Exchange(token, none)", b.Exchange(t.Context(), x.Key, at(1), []driver.Token{}...), nil)
				revoke(t, b, []driver.Revocation{}...)
				wantFeed(t, feed(t, b, 0))
				want(t, "Count(none)", b.Count(t.Context(), driver.Batch{Node: "node", Seq: 9}, []driver.Count{}), nil)
				count(t, b, "node", 1, calls("ai", at(0), 1)) // the batch of nothing is not remembered
				usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 1))
				want(t, "Append(none)", b.Append(t.Context(), []driver.Record{}...), nil)
				wantTrail(t, trail(t, b, 0, 9))
				appended(t, b, 0)
			}},
		{name: "an empty grant, application or user is a name like others", test: emptyNames},
		{name: "usage of the application without a name is its own", test: func(t testing.TB, b driver.Backend) {
			nameless := calls("ai", at(0), 10)
			nameless.AppID = ""
			count(t, b, "node", 1, nameless, calls("ai", at(0), 20))
			nameless.At = driver.Hour(at(0))
			usage(t, b, hours(""), nameless)
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 20))
		}},
	}
}

func emptyLists(t testing.TB, b driver.Backend) {
	docs := []driver.Doc{
		{Kind: "thing", ID: "nil"},
		{Kind: "thing", ID: "empty", Data: []byte{}, Index: []string{}},
		{Kind: "thing", ID: "nil listed", Index: []string{"all"}},
		{Kind: "thing", ID: "one zero", Data: []byte{0}},
	}
	version := put(t, b, docs...)
	for round := range 2 { // as created, as replaced
		for _, d := range docs {
			d.Version = version
			sameDoc(t, get(t, b, d.ID), d)
		}
		lists(t, b, driver.Between("a", "b"), "nil listed")
		for i := range docs {
			docs[i].Version = version
		}
		if round == 0 {
			version = put(t, b, docs...)
		}
	}
	want(t, "Append(empty)", b.Append(t.Context(), driver.Record{}, driver.Record{Data: []byte{}},
		driver.Record{Data: []byte{0}}), nil)
	wantTrail(t, trail(t, b, 0, 9), "", "", "\x00")
}

// plainBytes are data that a column of another type would take for its own.
func plainBytes(t testing.TB, b driver.Backend) {
	for i, data := range []string{
		`{"b": 1, "a": [ 1.0 , 1e2, 12345678901234567890 ], "b": null, "c": "\u00e9\ud83d<&>"}` + "\n", " {} ", "null", `"text"`, "1.50",
		`\x41`, `\101\\`, "0x41", "QUJD", "'", "a\r\nb", " a ", "a\x00", "\x00\x00", "\xef\xbb\xbfa", "\xff\xfe", "\xed\xa0\x80", "e\u0301",
	} {
		d := doc(fmt.Sprint(i))
		d.Data = []byte(data)
		d.Version = put(t, b, d)
		sameDoc(t, get(t, b, d.ID), d)
		want(t, "Append(record)", b.Append(t.Context(), driver.Record{At: at(i), Data: d.Data}), nil)
		all := trail(t, b, 0, driver.Page)
		wantTrail(t, all[i:], data)
	}
}

func emptyNames(t testing.TB, b driver.Backend) {
	nameless := func() driver.Token {
		x := token("a")
		x.Grant, x.AppID, x.UserID = "", "", ""
		issue(t, b, x)
		return x
	}
	for _, r := range []struct {
		kind, id string
		covers   error
	}{
		{driver.RevokeGrant, "grant a", nil}, {driver.RevokeApp, "app a", nil}, {driver.RevokeUser, "user a", nil},
		{driver.RevokeJTI, "", nil}, {driver.RevokeConsent, driver.ConsentID("", ""), driver.ErrRevoked},
	} {
		revoke(t, b, driver.Revocation{Kind: r.kind, ID: r.id, Before: at(600), Until: at(600)})
		want(t, "Exchange(token without names) behind a revocation of "+r.kind+" "+r.id,
			b.Exchange(t.Context(), nameless().Key, at(1)), r.covers)
	}
	for _, kind := range []string{driver.RevokeGrant, driver.RevokeApp, driver.RevokeUser} {
		x := token("b")
		switch kind {
		case driver.RevokeGrant:
			x.Grant = ""
		case driver.RevokeApp:
			x.AppID = ""
		case driver.RevokeUser:
			x.UserID = ""
		}
		issue(t, b, x)
		revoke(t, b, driver.Revocation{Kind: kind, Before: at(600), Until: at(600)})
		want(t, "Exchange(token without a name) behind a revocation of "+kind+" without one",
			b.Exchange(t.Context(), x.Key, at(1)), driver.ErrRevoked)
		full := token("c")
		issue(t, b, full)
		want(t, "Exchange(token with names)", b.Exchange(t.Context(), full.Key, at(1)), nil)
	}
}
