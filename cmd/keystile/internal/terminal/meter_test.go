package terminal

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestMeterShowsProgressOfWhatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		m := newMeter(&screen, "copying", "bytes")
		m.Write(make([]byte, 3<<20))
		time.Sleep(2500 * time.Millisecond)
		m.End()
		m.End()
		const line = "\r\x1b[K"
		if want := line + "keystile: copying, 3.0 MiB, 1s" + line + "keystile: copying, 3.0 MiB, 2s" +
			line; screen.String() != want {
			t.Errorf("it shows %q, want %q", screen.String(), want)
		}
	})
}

func TestMeterShowsNothingForWhatIsDoneAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen bytes.Buffer
		m := newMeter(&screen, "reading", "records")
		m.Add(1)
		m.End()
		if screen.Len() > 0 {
			t.Errorf("it shows %q", screen.String())
		}
		var silent *Meter
		silent.Add(1)
		silent.End()
	})
}

func TestPersonSaysWhetherToGoOn(t *testing.T) {
	for typed, goesOn := range map[string]bool{"y\n": true, "Yes \n": true, "yes": true, "n\n": false, "\n": false,
		"": false, "yet\n": false} {
		var screen bytes.Buffer
		err := Confirm(strings.NewReader(typed), &screen, "Remove it?")
		if (err == nil) != goesOn || screen.String() != "Remove it? [y/N] " || err != nil &&
			err.Error() != "nothing was done" {
			t.Errorf("%q: %v, asked %q", typed, err, screen.String())
		}
	}
}
