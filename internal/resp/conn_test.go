package resp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// peer is the other end of a connection.
type peer struct {
	net.Conn
	in *bufio.Reader
}

// pair returns a connection that has been greeted, and its other end.
func pair(t *testing.T) (*Conn, *peer) {
	here, there := net.Pipe()
	c := newConn(here, newReader(here), 2*time.Second)
	t.Cleanup(func() { c.Close(); there.Close() })
	return c, &peer{there, bufio.NewReader(there)}
}

// command reads a command.
func (p *peer) command() (words []string) {
	var n, size int
	if _, err := fmt.Fscanf(p.in, "*%d\r\n", &n); err != nil {
		return nil
	}
	for range n {
		fmt.Fscanf(p.in, "$%d\r\n", &size)
		word := make([]byte, size+2)
		io.ReadFull(p.in, word)
		words = append(words, string(word[:size]))
	}
	return words
}

// echo answers each command with its last word, until there is none.
func (p *peer) echo() {
	for {
		words := p.command()
		if words == nil {
			return
		}
		fmt.Fprintf(p, "+%s\r\n", words[len(words)-1])
	}
}

func soon() time.Time { return time.Now().Add(time.Minute) }

func TestCallerGetsTheAnswerToItsOwnCommand(t *testing.T) {
	c, p := pair(t)
	go p.echo()
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			for j := range 50 {
				want := fmt.Sprint(i, " ", j)
				if v, err := c.Do(soon(), "ECHO", want); err != nil || v.Text != want {
					t.Errorf("%q, %v, want %q", v.Text, err, want)
				}
			}
		})
	}
	group.Wait()
}

func TestConnBatchesWhatComesDuringAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := pair(t)
		for i := range 64 {
			go c.Do(soon(), "ECHO", fmt.Sprint(i))
			synctest.Wait() // the first one's write is not taken off yet
		}
		var marks []int
		for n := 1; len(marks) < 2; n++ {
			if p.command()[0] == "PING" {
				marks = append(marks, n)
			}
		}
		if marks[0] != 2 || marks[1] != 66 {
			t.Errorf("writes end with command %v, want one with the first command alone, and one with the 63 others", marks)
		}
	})
}

func TestCommandWaitsNoLongerThanItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := pair(t)
		began := time.Now()
		if _, err := c.Do(began.Add(50*time.Millisecond), "ECHO", "a"); !errors.Is(err, os.ErrDeadlineExceeded) ||
			time.Since(began) != 50*time.Millisecond {
			t.Errorf("where nothing takes the command: %v after %v", err, time.Since(began))
		}
		c, p := pair(t)
		go io.Copy(io.Discard, p)
		for range 41 {
			began = time.Now()
			if _, err := c.Do(began.Add(50*time.Millisecond), "ECHO", "a"); !errors.Is(err, os.ErrDeadlineExceeded) ||
				time.Since(began) > 50*time.Millisecond {
				t.Errorf("where nothing answers: %v after %v", err, time.Since(began))
			}
		}
		if err := c.Err(); !errors.Is(err, errSilent) {
			t.Errorf("after 2 s of silence the connection has %v", err)
		}
	})
}

func TestAnswerThatComesLateIsNobodyElses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := pair(t)
		go func() {
			for range 2 {
				words := p.command()
				mark := p.command()
				time.Sleep(80 * time.Millisecond)
				fmt.Fprintf(p, "+%s\r\n+%s\r\n", words[1], mark[1])
			}
		}()
		if _, err := c.Do(time.Now().Add(50*time.Millisecond), "ECHO", "a"); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if v, err := c.Do(soon(), "ECHO", "b"); err != nil || v.Text != "b" {
			t.Errorf("%+v, %v, want b", v, err)
		}
	})
}

func TestConnFailsOnAnAnswerTooManyOrTooFew(t *testing.T) {
	for sent, want := range map[string]string{
		"-ERR x\r\n+a\r\n+mark\r\n":         "out of step",
		"+mark\r\n":                         "",
		"+2\r\n+3\r\n":                      "out of step",
		"-ERR x\r\n-LOADING wait\r\n":       "LOADING wait",
		"+a\r\n:1\r\n":                      "out of step",
		"*1000000000\r\n":                   errTooLarge.Error(),
		"*-5\r\n":                           errProtocol.Error(),
		"HTTP/1.1 400 Bad Request\r\n\r\n ": errProtocol.Error(),
		"$99999999999999\r\n":               errTooLarge.Error(),
	} {
		c, p := pair(t)
		go func() {
			p.command()
			io.WriteString(p, strings.ReplaceAll(sent, "mark", p.command()[1]))
			p.Close()
		}()
		v, err := c.Do(soon(), "ECHO", "a")
		if err == nil || !strings.Contains(err.Error(), want) || v.Kind != Null {
			t.Errorf("%q is %+v, %v, want an error with %q", sent, v, err, want)
		}
		if _, err := c.Do(soon(), "ECHO", "b"); err == nil {
			t.Errorf("after %q the connection goes on", sent)
		}
	}
}

func TestConnEndsOnAnAnswerThatWasNotAskedFor(t *testing.T) {
	for _, sent := range []string{"-ERR x\r\n", "+OK\r\n", "$-1\r\n", "*-5\r\n", "*1000000000\r\n", "x"} {
		synctest.Test(t, func(t *testing.T) {
			c, p := pair(t)
			go p.echo()
			if _, err := c.Do(soon(), "ECHO", "a"); err != nil {
				t.Fatal(err)
			}
			io.WriteString(p, sent)
			synctest.Wait()
			if err := c.Err(); !errors.Is(err, errUnasked) {
				t.Errorf("%q: %v", sent, err)
			}
		})
	}
}

func TestWaitersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := pair(t)
		go io.Copy(io.Discard, p)
		for range waitingMost {
			go c.Do(soon(), "ECHO", "a")
		}
		synctest.Wait()
		if _, err := c.Do(soon(), "ECHO", "b"); !errors.Is(err, ErrFull) {
			t.Errorf("one more than %d: %v", waitingMost, err)
		}
	})
}

func TestConnCloseIsToldToThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := pair(t)
		go io.Copy(io.Discard, p)
		for range 8 {
			go func() {
				if _, err := c.Do(soon(), "ECHO", "a"); !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		c.Close()
	})
}

// greeted greets a server that answers so, and may hang up then, and returns what it was asked.
func greeted(t *testing.T, target Target, hangsUp bool, answers ...string) (asked []string, err error) {
	here, there := net.Pipe()
	defer here.Close()
	p := &peer{there, bufio.NewReader(there)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, answer := range answers {
			asked = append(asked, strings.Join(p.command(), " "))
			io.WriteString(p, answer)
		}
		if hangsUp {
			there.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = target.greet(ctx, here)
	<-done
	return asked, err
}

func TestServerIsGreetedAsItsAddressSays(t *testing.T) {
	const hello = "%1\r\n+proto\r\n:3\r\n"
	for _, c := range []struct {
		address string
		answers []string
		want    string
	}{
		{"redis://h", []string{hello}, "HELLO 3"},
		{"redis://:secret@h/3?client_name=n", []string{hello, "+OK\r\n"}, "HELLO 3 AUTH default secret SETNAME n, SELECT 3"},
		{"redis://u:secret@h?protocol=2", []string{"+OK\r\n"}, "AUTH u secret"},
		{"redis://:secret@h?protocol=2&client_name=n", []string{"+OK\r\n", "-ERR unknown\r\n"},
			"AUTH secret, CLIENT SETNAME n"},
		{"redis://:secret@h", []string{"-ERR unknown command 'HELLO'\r\n", "+OK\r\n"},
			"HELLO 3 AUTH default secret, AUTH secret"},
		{"redis://h", []string{"-NOPROTO unsupported protocol version\r\n"}, "HELLO 3"},
	} {
		target, err := Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := greeted(t, target, false, c.answers...)
		if got := strings.Join(asked, ", "); err != nil || got != c.want {
			t.Errorf("%s asks %q, %v, want %q", c.address, got, err, c.want)
		}
	}
}

func TestGreetingThatIsNoneIsAnError(t *testing.T) {
	for _, answer := range []string{
		"+OK\r\n", "-DENIED Redis is running in protected mode\r\n", "-ERR max number of clients reached\r\n",
		"-WRONGPASS x\r\n", ":1\r\n", "$-1\r\n", "*-5\r\n",
		"*1000000000\r\n", "%1000000000\r\n", "$99999999999999\r\n", "HTTP/1.1 400 Bad Request\r\n", "220 mail\r\n", "", "x",
		"%7\r\n+proto\r\n",
	} {
		if _, err := greeted(t, Target{}, true, answer); err == nil {
			t.Errorf("%q is a greeting", answer)
		}
	}
}
