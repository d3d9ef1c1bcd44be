package audit

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/storage/event"
)

var hostile = []string{
	"", "\n", "\r\n", "\x00", "\xff\xfe", "a\xc3", `"`, `\`, `"}`, `","hash":"`, "</script>", "\u2028\u2029",
	"\x1b[31mred", "\u202egpj.exe", "\x7f\u0080", "密钥🔑", "\U000e0001", "\ufeff", string(utf8.RuneError), "\xed\xa0\x80",
	strings.Repeat("a", 1<<20), strings.Repeat("密", 1<<18), strings.Repeat("\xff", 5000), strings.Repeat("a", 1023) + "密",
	"/p?access_token=secret", "/p#access_token=secret", "?secret", "/p#a?secret", "/p?a#secret",
}

func TestEncodeWritesOneLineThatReadsBack(t *testing.T) {
	for _, text := range hostile {
		e := Event{At: time.Unix(0, 1), Status: 200}
		for _, place := range texts(&e) {
			*place = text
		}
		e.Actors = []string{text, "planner", text + "1"}
		roundTrips(t, e)
	}
}

// roundTrips sends an event through the queue and a chain, and reads it back with
// encoding/json alone.
func roundTrips(t *testing.T, e Event) {
	t.Helper()
	now, given := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), slices.Clone(e.Actors)
	var d drain
	queued := e
	trim(&queued)
	d.add(&queued, nil)
	d.rest = string(d.text)
	written, _ := d.entry(now)
	data := newChain(digest{1}).append(nil, &written, true)

	want := e
	tidy(&want, now)
	again := want
	if tidy(&again, now); !reflect.DeepEqual(again, want) {
		t.Errorf("tidy(tidy(event)) = %+v, want %+v", again, want)
	}
	var got entry
	if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got.Event, want) {
		t.Errorf("%.200q reads back as %+v, %v, want %+v", data, got.Event, err, want)
	}
	if e, body, claimed, err := decode(data); err != nil || !reflect.DeepEqual(e, got) ||
		follow(newChain(digest{}).sum, digest{1}, body) != claimed {
		t.Errorf("decode(%.200q) = %+v, %v, want the entry and its hash", data, e, err)
	}
	for i, text := range texts(&want) {
		if len(*text) > fields[i].limit || !utf8.ValidString(*text) {
			t.Errorf("%s takes %d bytes, want up to %d of UTF-8", fields[i].name, len(*text), fields[i].limit)
		}
	}
	for _, actor := range want.Actors {
		if len(actor) > actorLimit || !utf8.ValidString(actor) {
			t.Errorf("an actor takes %d bytes, want up to %d of UTF-8", len(actor), actorLimit)
		}
	}
	if len(want.Actors) > event.MaxActors || !slices.Equal(e.Actors, given) {
		t.Errorf("%d actors are written, and the caller's are %q, want up to %d, and %q", len(want.Actors), e.Actors,
			event.MaxActors, given)
	}
	if want.Status < 0 || want.Latency < 0 || want.Bytes < 0 || want.At.IsZero() || strings.ContainsAny(want.Path, "?#") {
		t.Errorf("tidy() = %+v, want a time, no negative number and no query", want)
	}
	if bytes.ContainsFunc(data,
		func(r rune) bool { return r < ' ' || r == 0x7F || r == '\u2028' || r == '\u202e' || r == 0x80 }) {
		t.Errorf("%.200q holds what does not print", data)
	}
}

func TestTextIsCutBetweenLetters(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("a", 64):                      strings.Repeat("a", 64),
		strings.Repeat("a", 65):                      strings.Repeat("a", 61) + "…",
		strings.Repeat("密", 22):                      strings.Repeat("密", 20) + "…",
		strings.Repeat("a", 62) + "\xe5\xaf":         strings.Repeat("a", 61) + "…",
		strings.Repeat("a", 63) + "\xff\xff\xff\xff": strings.Repeat("a", 61) + "…",
		"\xff\xff": "\uFFFD",
	} {
		e := Event{Kind: text}
		if tidy(&e, time.Now()); e.Kind != want {
			t.Errorf("%q is written as %q, want %q", text, e.Kind, want)
		}
	}
}

func TestTimeNobodyCanWriteIsNow(t *testing.T) {
	now := time.Now()
	for _, at := range []time.Time{{}, time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		e := Event{At: at}
		if tidy(&e, now); !e.At.Equal(now) || e.At.Location() != time.UTC {
			t.Errorf("the time %v is written as %v, want %v in UTC", at, e.At, now)
		}
	}
	edge := time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("west", -7200)) // 10000 in UTC
	roundTrips(t, Event{At: edge, Status: -1, Latency: math.MinInt64, Bytes: -5})
	roundTrips(t, Event{At: time.Now(), Status: math.MaxInt, Latency: math.MaxInt64, Bytes: math.MaxInt64})
}

func TestShapeOfARecordStays(t *testing.T) {
	c := newChain(digest{})
	c.id = "c"
	e := entry{Event: numbered(1), After: 7, Lost: 3}
	e.Detail = "d"
	data := string(c.append(nil, &e, true))
	want := `{"chain":"c","n":1,"after":7,"prev":"` + digest{}.String() + `","at":"2026-08-01T12:00:00.000000001Z","kind":"call",` +
		`"request_id":"r1","app":"app1","user":"u1","product":"ai","method":"POST","path":"/api/v1/chat","ip":"203.0.113.7","detail":"d",` +
		`"status":200,"latency_ns":1500000,"bytes":42,"lost":3,"hash":"74e72a47318a26e9aaba423a5ce9708363fe538a213409866fe9d87da10e4c3b"}`
	if data != want {
		t.Errorf("a record is %s, want %s", data, want)
	}
}

// A record of before has the shape that it had: only who acts by delegation adds to it.
func TestRecordSaysWhoActs(t *testing.T) {
	c := newChain(digest{})
	c.id = "c"
	e := entry{Event: Event{At: numbered(1).At, Kind: event.Call, App: "shop", User: "u1",
		Actors: []string{"shop", "planner", "https://a.example/agent"}, Status: 200}}
	data := string(c.append(nil, &e, false))
	want := `{"chain":"c","n":1,"at":"2026-08-01T12:00:00.000000001Z","kind":"call","app":"shop","user":"u1",` +
		`"act":["shop","planner","https://a.example/agent"],"status":200,"hash":"`
	if !strings.HasPrefix(data, want) {
		t.Errorf("a record is %s, want %s", data, want)
	}
	_, body, claimed, err := decode([]byte(data))
	if err != nil || follow(c.sum, digest{}, body) != claimed {
		t.Fatalf("it does not read back: %v", err)
	}
	changed := bytes.Replace(body, []byte("planner"), []byte("plotter"), 1)
	if follow(c.sum, digest{}, changed) == claimed {
		t.Error("the hash does not cover who acts")
	}
}

func TestActorsBeyondTheTenthAreNotWritten(t *testing.T) {
	e := numbered(1)
	for i := range event.MaxActors + 3 {
		e.Actors = append(e.Actors, strings.Repeat("a", actorLimit+i))
	}
	roundTrips(t, e)
	kept := AsKept(e)
	if len(kept.Actors) != event.MaxActors || kept.Actors[0] != e.Actors[0] ||
		kept.Actors[1] != strings.Repeat("a", actorLimit-len(ellipsis))+ellipsis {
		t.Errorf("%d actors are kept: %.600q", len(kept.Actors), kept.Actors)
	}
}

func FuzzEncode(f *testing.F) {
	for _, text := range hostile {
		f.Add(text[:min(len(text), 2000)], text[:min(len(text), 300)], int64(len(text)), int64(-1))
	}
	f.Fuzz(func(t *testing.T, a, b string, n, m int64) {
		roundTrips(t, Event{At: time.Unix(n, m), Kind: a, RequestID: b, App: a + b, User: b + a, Path: a, Detail: b,
			Status: int(m), Latency: time.Duration(n), Bytes: m})
		actors := slices.Repeat([]string{a, b, ""}, int(uint64(n)%7))
		roundTrips(t, Event{Kind: b, Actors: actors, Product: a, Method: b, Path: b + a, IP: a, Detail: a, Status: int(n),
			Latency: time.Duration(m), Bytes: n})
	})
}
