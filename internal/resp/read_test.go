package resp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestEndOfAConnectionIsNoticedWhileNobodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := pair(t)
		go p.echo()
		if _, err := c.Do(soon(), "ECHO", "a"); err != nil {
			t.Fatal(err)
		}
		p.Close()
		time.Sleep(watchAfter)
		synctest.Wait()
		if c.Err() == nil {
			t.Errorf("it is not noticed within %v", watchAfter)
		}
	})
}

// Half an answer cannot be given to anybody, nor can what comes after it.
func TestAnswerThatStopsInTheMiddleHoldsACallerNoLongerThanItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := pair(t)
		go func() {
			p.command()
			p.command()
			io.WriteString(p, "$5\r\nhal")
		}()
		began := time.Now()
		v, err := c.Do(began.Add(50*time.Millisecond), "ECHO", "a")
		if !errors.Is(err, os.ErrDeadlineExceeded) || v.Kind != Null || time.Since(began) > 50*time.Millisecond {
			t.Errorf("%+v, %v after %v", v, err, time.Since(began))
		}
		if _, err := c.Do(soon(), "ECHO", "b"); err == nil {
			t.Error("the connection goes on in the middle of an answer")
		}
	})
}

// The first caller reads for itself. Those behind it are read for when it has its answer, and when its time is over.
func TestCallersBehindOneThatReadsGetTheirAnswers(t *testing.T) {
	for _, takes := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			c, p := pair(t)
			go func() {
				for {
					words, mark := p.command(), p.command()
					if mark == nil {
						return
					}
					time.AfterFunc(takes, func() { fmt.Fprintf(p, "+%s\r\n+%s\r\n", words[1], mark[1]) })
				}
			}()
			if _, err := c.Do(soon(), "ECHO", "a"); err != nil { // the next caller finds nobody reading
				t.Fatal(err)
			}
			var group sync.WaitGroup
			for i := range 4 {
				group.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond)
					want := fmt.Sprint("b", i)
					v, err := c.Do(time.Now().Add(time.Duration(50+100*i)*time.Millisecond), "ECHO", want)
					if late := i == 0 && takes > 50*time.Millisecond; errors.Is(err, os.ErrDeadlineExceeded) != late ||
						!late && v.Text != want {
						t.Errorf("%+v, %v, want %s", v, err, want)
					}
				})
			}
			group.Wait()
		})
	}
}
