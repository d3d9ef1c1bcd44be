package storagetest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// oddNames are texts that databases like to order, fold, trim or quote their own way.
func oddNames() []string {
	return []string{
		"a", "A", "aa", "a b", "a ", " a", "a-b", "a_b", "a%b", `a\b`, `a'b"c`, "a\x01", "B", "b", "Z", "10", "2", "09",
		"ä", "a\u0308", "ß", "ss", "İ", "ı", "é", "\u00a0", "\u200d", "日本", "\U0001f511", "\U0010ffff", "\uffff", "\x7f",
		"\n", strings.Repeat("n", 1000),
	}
}

// oddTimes are times that a type of a database may not hold.
func oddTimes() []time.Time {
	return []time.Time{
		{}, time.Time{}.Add(1), time.Date(1, 1, 1, 1, 0, 0, 0, time.UTC), time.Date(1582, 10, 10, 0, 0, 0, 0, time.UTC),
		time.Unix(-1, 999999999).UTC(), time.Unix(0, 0).UTC(), time.Unix(0, 1).UTC(), at(0), at(0).Add(1),
		at(0).Add(time.Microsecond - 1),
		time.Date(2262, 4, 12, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
	}
}

// samples are rows of every table, in the order of their keys.
func samples() map[transfer.Table][]transfer.Row {
	all := map[transfer.Table][]transfer.Row{transfer.Counters: {
		transfer.CounterRow(transfer.LastRecord, 1<<40),
		transfer.CounterRow(transfer.LastRevocation, math.MaxInt64-1000),
		transfer.CounterRow(transfer.LastVersion, 1<<50),
	}}
	add := func(table transfer.Table, r transfer.Row) { all[table] = append(all[table], r) }
	times := oddTimes()
	for i, name := range oddNames() {
		moment, next := times[i%len(times)], times[(i+1)%len(times)]
		add(transfer.Tokens, transfer.TokenRow(sampleToken(i, name, moment, next)))
		add(transfer.Revocations,
			transfer.RevocationRow(driver.Revocation{Seq: 1<<33 - uint64(i), Kind: driver.RevokeApp, ID: name, Before: moment,
				Until: next}))
		add(transfer.Revocations,
			transfer.RevocationRow(driver.Revocation{Seq: 1<<34 + uint64(i), Kind: "k" + name, ID: name, Until: moment}))
		add(transfer.Batches, transfer.BatchRow(driver.Batch{Node: name, Seq: 1<<62 + uint64(i)}))
		add(transfer.Audit, transfer.RecordRow(driver.Record{Seq: 1<<32 + uint64(i*i), At: moment, Data: []byte(name)}))
		for _, kind := range []string{"thing", "Thing", name} {
			d := driver.Doc{Kind: kind, ID: "id " + name, Version: int64(1 + i*7), ExpiresAt: moment,
				Data: []byte{0, 0xff, byte(i)}, Index: []string{"all", name, "x" + name}}
			add(transfer.Documents, transfer.DocRow(d))
		}
		for _, daily := range []bool{true, false} {
			for _, product := range []string{"", "p", name + "p"} {
				add(transfer.Usage, transfer.UsageRow(driver.Count{AppID: name, Product: product, At: driver.Hour(moment),
					Calls: math.MaxInt64, Errors: int64(i)}, daily))
				add(transfer.Usage, transfer.UsageRow(driver.Count{AppID: name, Product: product, At: driver.Hour(next),
					Calls: int64(i)}, daily))
			}
		}
	}
	add(transfer.Documents, transfer.DocRow(driver.Doc{Kind: "bare", ID: "b", Version: math.MaxInt64}))
	add(transfer.Documents, transfer.DocRow(driver.Doc{Kind: "bare", ID: "a", Version: 1, Index: []string{"b", "a", "b"}}))
	for table, rows := range all {
		slices.SortFunc(rows, func(a, b transfer.Row) int { return bytes.Compare(a.Key, b.Key) })
		all[table] = slices.CompactFunc(rows, func(a, b transfer.Row) bool { return bytes.Equal(a.Key, b.Key) })
	}
	return all
}

func sampleToken(i int, name string, moment, next time.Time) driver.Token {
	t := driver.Token{
		Kind: driver.KindCode, Grant: name, GrantedAt: next, AppID: "app " + name, UserID: name, Scope: "a b",
		IssuedAt: moment, ExpiresAt: next,
		AuthTime: moment, LoginType: "qq", Resource: "r", SignIn: "{}", RedirectURI: "https://a.example/?" + name,
		Challenge: "c", Method: "S256", Nonce: name, IP: "::1",
	}
	if i%2 == 1 {
		t = driver.Token{Kind: driver.KindRefresh, Grant: name, SpentAt: at(i)}
	}
	copy(t.Key[:], fmt.Sprintf("%c%39d", 255-7*i, i)) // keys that are no text, from one end to the other
	t.Key[0] = byte(255 - 7*i)
	return t
}
