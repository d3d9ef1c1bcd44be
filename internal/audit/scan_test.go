package audit

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// asJSON holds what scan makes of a body against encoding/json; ok: it has read it.
func asJSON(t *testing.T, body string) (ok bool) {
	t.Helper()
	var got, want entry
	if !scan([]byte(body), &got) {
		return false
	}
	if err := json.Unmarshal([]byte(body+"}"), &want); err != nil {
		t.Errorf("scan(%q) = %+v, encoding/json says %v", body, got, err)
		return true
	}
	same := got.At.Equal(want.At)
	if got.At, want.At = (time.Time{}), (time.Time{}); !same || !reflect.DeepEqual(got, want) {
		t.Errorf("scan(%q) = %+v, encoding/json has %+v", body, got, want)
	}
	return true
}

func TestRecordIsScannedAsEncodingJSONReadsIt(t *testing.T) {
	c := newChain(digest{})
	e := entry{Event: numbered(1), After: 7, Lost: 3}
	e.Detail, e.Count, e.Span = "a detail, of words", 3, time.Second
	for i := range 4 {
		body, _, _ := split(c.append(nil, &e, i == 0))
		if !asJSON(t, string(body)) {
			t.Errorf("%s is not scanned", body)
		}
		e.Lost, e.Detail, e.Actors = 0, "", append(e.Actors, "an agent")
	}
	for body, want := range map[string]bool{
		`{"act":["a"]`: true, `{"act":["a","b c"],"n":1`: true, `{"act":["a"],"act":["b","c"]`: true, `{"act":[""]`: true,
		`{"act":[]`: false, `{"act":["a"`: false, `{"act":["a",]`: false, `{"act":[,]`: false, `{"act":["a"]]`: false, `{"act":["a" ]`: false, `{"act":[1]`: false,
		`{"act":"a"`: false, `{"act":["a\""]`: false, `{"kind":["a"]`: false, `{"n":["a"]`: false, `{"act":[`: false, `{"act":[["a"]]`: false, `{"ACT":["a"]`: false,
		`{"n":1`: true, `{"n":0`: true, `{"n":1,"n":2`: true, `{"kind":""`: true, `{"path":"a b"`: true, `{"at":"2026-08-01T12:00:00+08:00"`: true,
		`{"status":200`: true, `{"n":999999999999999999`: true,
		"": false, "{": false, `{"n"`: false, `{"n":`: false, `{"n":1,`: false, `{"n":1 `: false, `{"n":1}`: false, `{"n":01`: false, `{"n":-1`: false, `{"n":1.5`: false,
		`{"n":1e3`: false, `{"n":"1"`: false, `{"kind":1`: false, `{"kind":null`: false, `{"KIND":"a"`: false, `{"new":1`: false, `{"at":"today"`: false, `{"at":1`: false,
		`{ "n":1`: false, `{"n": 1`: false, `["n":1`: false, `{"n":1;"n":2`: false, `{"kind":"a\\u0041"`: false, "{\"kind\":\"\u5bc6\"": false, "{\"kind\":\"\xff\"": false,
		"{\"kind\":\"\t\"": false, `{"n":1000000000000000000`: false, `{"bytes":18446744073709551615`: false, `{"kind":"a`: false, `{"kind":"a"b`: false,
	} {
		if got := asJSON(t, body); got != want {
			t.Errorf("scan(%q) = %t, want %t", body, got, want)
		}
	}
}

func TestScanningARecordIsOneAllocation(t *testing.T) {
	e := entry{Event: numbered(1)}
	body, _, _ := split(newChain(digest{}).append(nil, &e, false))
	if n := testing.AllocsPerRun(100, func() {
		var e entry
		if !scan(body, &e) {
			t.Fatal("it is not scanned")
		}
	}); n > 1 {
		t.Errorf("%v allocations, want one, of the texts", n)
	}
}

func FuzzScan(f *testing.F) {
	e := entry{Event: numbered(1), After: 7, Lost: 3}
	body, _, _ := split(newChain(digest{}).append(nil, &e, true))
	for _, seed := range []string{string(body), `{"app":"a","act":["b","c"],"n":1`, `{"n":1,"kind":"a\u0020b"`, `{"KIND":"a"`, strings.Repeat("{", 9)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) { asJSON(t, body) })
}

// A record is read into its copy, of which all its texts are parts.
func TestUsualRecordIsReadWithOneAllocation(t *testing.T) {
	c := newChain(digest{})
	e := entry{Event: numbered(1)}
	line := c.append(nil, &e, false)
	if n := testing.AllocsPerRun(100, func() {
		if _, _, _, err := decode(line); err != nil {
			t.Error(err)
		}
	}); n > 1 {
		t.Errorf("it allocates %v times", n)
	}
}
