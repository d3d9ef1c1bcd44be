package upstream

import "testing"

// FuzzAnswer compares what both clients make of an answer. The second argument has the method and the size of pieces.
func FuzzAnswer(f *testing.F) {
	for i, answer := range whole {
		f.Add([]byte(answer), byte(i))
	}
	f.Fuzz(func(t *testing.T, answer []byte, how byte) {
		method := []string{"GET", "HEAD", "POST", "GET"}[how%4]
		compared(t, one(method), last(string(answer)), int(how/4))
	})
}
