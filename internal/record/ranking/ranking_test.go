package ranking

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func TestListsComeBackAsTheyWerePacked(t *testing.T) {
	for _, r := range []Ranking{
		{ID: "none"},
		{ID: "r", Names: []string{"a", "ä b", ""}, Calls: []int64{1, 300, math.MaxInt64},
			Errors: []int64{0, 2, math.MaxInt64}, Over: []int64{0, 1, 9}},
	} {
		packed := r.Pack()
		packed.Names, packed.Calls, packed.Errors, packed.Over = nil, nil, nil, nil
		if got, err := packed.Unpack(); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%+v, %v, want %+v", got, err, r)
		}
		for cut := range len(packed.Packed) {
			damaged := packed
			damaged.Packed = packed.Packed[:cut]
			if got, err := damaged.Unpack(); err == nil && len(got.Names) >= len(r.Names) {
				t.Errorf("cut at %d it is %+v", cut, got)
			}
		}
	}
	for _, bad := range []string{"\xff", "\x05ab", "\x01a\x01\x01",
		"\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01"} {
		if got, err := (Ranking{Packed: []byte(bad)}).Unpack(); err == nil {
			t.Errorf("%q is %+v", bad, got)
		}
	}
}

func TestRankingThatIsNoneIsRefused(t *testing.T) {
	day := driver.Day(time.Now())
	good := Ranking{ID: "r", Of: Apps, Day: day, Names: []string{"a"}, Calls: []int64{1}, Errors: []int64{0},
		Over: []int64{0}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Ranking){
		"no id":       func(r *Ranking) { r.ID = "" },
		"of nothing":  func(r *Ranking) { r.Of = "ip" },
		"no day":      func(r *Ranking) { r.Day = time.Time{} },
		"amid a day":  func(r *Ranking) { r.Day = day.Add(time.Hour) },
		"uneven":      func(r *Ranking) { r.Over = nil },
		"a long list": func(r *Ranking) { r.Names = make([]string, MaxNames+1) },
	} {
		bad := good
		spoil(&bad)
		if err := bad.Check(); !errors.Is(err, driver.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}
