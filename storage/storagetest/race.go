package storagetest

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

// together runs n calls that start at the same moment, and returns their answers.
func together(n int, call func(i int) error) []error {
	answers := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			answers[i] = call(i)
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// oneWins checks that of these answers one is nil and all others are the verdict.
func oneWins(t testing.TB, call string, answers []error, verdict error) {
	t.Helper()
	winner := slices.Index(answers, nil)
	if winner < 0 {
		t.Fatalf("no %s of %d won; the first answered %v", call, len(answers), answers[0])
	}
	for i, err := range answers {
		if i != winner && !errors.Is(err, verdict) {
			t.Fatalf("%s = %v beside a winner, want %v", call, err, verdict)
		}
	}
}

// allNil checks that all answers are nil.
func allNil(t testing.TB, call string, answers []error) {
	t.Helper()
	for _, err := range answers {
		want(t, call, err, nil)
	}
}

// meanwhile runs writers that call write so many times each, and watch beside them, over
// and over; once more behind their end, so that it sees everything.
func meanwhile(writers, times int, write func(writer, time int) error, observe func()) []error {
	var answers []error
	done := make(chan struct{})
	go func() {
		defer close(done)
		answers = together(writers, func(i int) error {
			for j := range times {
				if err := write(i, j); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	for {
		select {
		case <-done:
			observe()
			return answers
		default:
			observe()
		}
	}
}
