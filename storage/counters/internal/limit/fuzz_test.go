package limit

import (
	"testing"
	"time"
)

// FuzzProgram runs a program of three bytes a step against the model. The first byte
// chooses the table: one to four places, or room for all.
func FuzzProgram(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{1, 0, 2, 0, 1, 2, 0, 2, 2, 0, 0x80, 0, 0, 3, 2, 9, 0, 2, 255, 1, 2, 255})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 || len(program) > 6000 {
			return
		}
		const window = 1 << 12
		limits := []int{Unlimited, 0, 1, 2, 3, 4, 9, 40}
		tr := newTrial(t, Config{Window: window, MaxKeys: []int{1, 2, 3, 4, 0}[program[0]%5]})
		names := []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "2001:db8::1", "2001:db8:0:1::1",
			"2001:db8:0:2::1", "2001:db8::4:0"}
		var clock time.Duration
		var last Verdict
		for p := program[1:]; len(p) >= 3; p = p[3:] {
			key, what, n := names[p[0]&7], p[1], p[2]
			if p[0]&0x80 != 0 {
				tr.cancel(int(what)<<8 | int(n))
				continue
			}
			asked := clock
			switch p[0] >> 3 & 7 {
			case 0, 1: // the clock stands
			case 2:
				clock += time.Duration(n)
				asked = clock
			case 3:
				clock += time.Duration(n) << 4
				asked = clock
			case 4:
				clock += max(0, last.Reset)
				asked = clock
			case 5:
				clock += max(0, last.Reset-1)
				asked = clock
			case 6:
				asked -= time.Duration(n)
			case 7:
				asked -= time.Duration(n) << 6
			}
			last = tr.ask(key, limits[what&7], asked)
		}
	})
}
