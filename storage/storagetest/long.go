package storagetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// long is a text of the largest length: letters of four bytes, and what tells it from others.
func long(first, last string) string {
	rest := driver.MaxName - len(first) - len(last)
	return first + strings.Repeat("x", rest%4) + strings.Repeat("𐍈", rest/4) + last
}

func longNames(t testing.TB, b driver.Backend) {
	kind, other := long("", "kind"), long("", "kine")
	var docs []driver.Doc
	for _, last := range []string{"a", "b", "c"} {
		d := driver.Doc{Kind: kind, ID: long("", last), ExpiresAt: at(5)}
		for i := range driver.MaxIndex {
			d.Index = append(d.Index, long("", string(rune('0'+i))))
		}
		docs = append(docs, d, driver.Doc{Kind: other, ID: long("", last), Index: d.Index[:1]})
	}
	version := put(t, b, docs...)
	for i, d := range docs {
		docs[i].Version, d.Version = version, version
		got, err := b.Get(t.Context(), d.Kind, d.ID)
		want(t, "Get(long, long)", err, nil)
		sameDoc(t, got, d)
	}
	span, walked := driver.Is(docs[0].Index[7]), []string{}
	for {
		page, next, err := b.List(t.Context(), kind, span, 1)
		want(t, "List(long, long)", err, nil)
		walked = append(walked, idsOf(page)...)
		if next == "" || len(walked) > 3 {
			break
		}
		span.From = next
	}
	if ids := []string{docs[0].ID, docs[2].ID, docs[4].ID}; !slices.Equal(walked, ids) {
		t.Fatalf("List(long, long) by pages of 1 = %d documents, want 3", len(walked))
	}
	put(t, b, removal(docs[0]))
	sweep(t, b, at(5), 2)
	for i, d := range docs {
		page, _, err := b.List(t.Context(), d.Kind, driver.Is(d.Index[0]), 9)
		if want(t, "List(long, long)", err, nil); len(page) != 3*(i%2) {
			t.Fatalf("List(long, long) = %d documents when one is removed and two are swept, want %d", len(page), 3*(i%2))
		}
	}
}

func longOthers(t testing.TB, b driver.Backend) {
	half := strings.Repeat("x", driver.MaxName/2)
	for _, last := range []string{"a", "b"} {
		x := token(last)
		x.Grant, x.AppID, x.UserID = long("grant", last), half, half[:len(half)-2]+last
		x.Scope, x.RedirectURI = strings.Repeat("scope ", 2000)+last,
			"https://example.org/"+strings.Repeat("path/", 1000)+last
		issue(t, b, x)
		sameToken(t, read(t, b, x.Key), x)
		if last == "a" {
			revoke(t, b, grantEnd(x.Grant), driver.Revocation{Kind: driver.RevokeUser, ID: long("user", last), Before: at(600),
				Until: at(600)},
				driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID(x.AppID, x.UserID), Before: at(600),
					Until: at(600)})
			want(t, "Exchange(token of a revoked grant)", b.Exchange(t.Context(), x.Key, at(1)), driver.ErrRevoked)
		} else {
			want(t, "Exchange(token of another grant)", b.Exchange(t.Context(), x.Key, at(1)), nil)
		}
		c := driver.Count{AppID: long("app", "0"), Product: long("product", last), At: at(0), Calls: 1}
		count(t, b, long("node", last), 1, c)
		count(t, b, long("node", last), 1, c)
	}
	q, hour := hours(long("app", "0")), driver.Hour(at(0))
	usage(t, b, q, driver.Count{AppID: q.AppID, Product: long("product", "a"), At: hour, Calls: 1},
		driver.Count{AppID: q.AppID, Product: long("product", "b"), At: hour, Calls: 1})
}
