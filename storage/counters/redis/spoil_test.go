package redis

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
)

// spoiler does to answers what proxies, wrong services and broken ways do.
type spoiler struct {
	mu   sync.Mutex
	r    *rand.Rand
	held []byte
}

func newSpoiler(seed uint64) *spoiler { return &spoiler{r: rand.New(rand.NewPCG(seed, 1))} }

// unasked are whole answers, of Redis and of others, and beginnings of some.
var unasked = []string{
	"-ERR x\r\n", "+OK\r\n", "$-1\r\n", "*-5\r\n", "*1000000000\r\n", "$99999999999999\r\n", ":1\r\n", "*0\r\n", "_\r\n",
	"%1000000000\r\n",
	"HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.example.com\r\n", ">2\r\n+invalidate\r\n*0\r\n", "|1\r\n+ttl\r\n:1\r\n",
	"-MOVED 1 127.0.0.1:1\r\n", "-ASK 1 127.0.0.1:1\r\n",
	"-LOADING x\r\n", "-READONLY x\r\n", "-NOSCRIPT x\r\n", "*3\r\n:1\r\n:59\r\n:1\r\n",
	"*6\r\n:1\r\n:59\r\n:1\r\n:5\r\n:1\r\n:1\r\n", "$32\r\nx", "!1000000\r\n", "=3\r\ntxt\r\n", "\r\n", "\x00",
	"*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n",
}

// lengths are lies.
var lengths = []string{"0", "1", "2", "7", "-1", "-5", "1000000000", "99999999999999", "99999999999999999999999", "",
	"?", "x"}

// pass returns what becomes of a piece of an answer, and whether the connection is cut then. No answer becomes another
// one that could be true.
func (s *spoiler) pass(b []byte) (out []byte, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b = append(s.held, b...)
	s.held = nil
	switch s.r.IntN(100) {
	case 0:
		return append([]byte(s.one(unasked)), b...), false
	case 1:
		return append(slices.Clone(b), s.one(unasked)...), false
	case 2:
		return slices.Insert(slices.Clone(b), s.r.IntN(len(b)+1), []byte(s.one(unasked))...), false
	case 3:
		return slices.Insert(slices.Clone(b), s.r.IntN(len(b)+1), s.noise()...), false
	case 4:
		return b[:s.r.IntN(len(b)+1)], true
	case 5:
		return s.lie(b), false
	case 6: // it is late: until more comes
		s.held = slices.Clone(b)
		return nil, false
	case 7:
		return append(slices.Clone(b), b...), false
	}
	return b, false
}

func (s *spoiler) one(of []string) string { return of[s.r.IntN(len(of))] }

func (s *spoiler) noise() []byte {
	b := make([]byte, 1+s.r.IntN(200))
	for i := range b {
		b[i] = byte(s.r.Uint32())
	}
	return b
}

// lie changes a length, if there is any.
func (s *spoiler) lie(b []byte) []byte {
	var at []int
	for i, c := range b {
		if bytes.IndexByte([]byte("*$%~!="), c) >= 0 {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return b
	}
	i := at[s.r.IntN(len(at))] + 1
	end := i
	for end < len(b) && b[end] >= '0' && b[end] <= '9' {
		end++
	}
	return slices.Replace(slices.Clone(b), i, end, []byte(s.one(lengths))...)
}

// ruin changes anything.
func (s *spoiler) ruin(b []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b = slices.Clone(b)
	for range 1 + s.r.IntN(3) {
		i := s.r.IntN(len(b) + 1)
		switch s.r.IntN(7) {
		case 0:
			b = slices.Insert(b, i, s.noise()...)
		case 1:
			b = slices.Insert(b, i, []byte(s.one(unasked))...)
		case 2:
			b = b[:i]
		case 3:
			b = s.lie(b)
		case 4:
			b = append(b, b[i:]...)
		case 5:
			b = slices.Delete(b, i, min(len(b), i+1+s.r.IntN(4)))
		case 6:
			if i < len(b) {
				b[i] = byte(s.r.Uint32())
			}
		}
	}
	return b
}

// plays answers a command as Redis does, or as it is drawn.
func (s *spoiler) plays(words []string) []byte {
	s.mu.Lock()
	how := s.r.IntN(10)
	s.mu.Unlock()
	answer := answerTo(words)
	if how < 6 {
		return answer
	}
	return s.ruin(answer)
}

func answerTo(words []string) []byte {
	text := func(s string) []byte { return []byte("$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n") }
	switch words[0] {
	case "HELLO":
		return []byte("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n$2\r\n" +
			"id\r\n:9\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n")
	case "CLUSTER":
		return []byte("-ERR This instance has cluster support disabled\r\n")
	case "PING":
		return text(words[1])
	case "INFO":
		return text("# Server\r\nredis_version:7.0.15\r\n")
	case "EVAL":
		return text("0123456789abcdef0123456789abcdef")
	}
	return []byte("*6\r\n:1\r\n:59\r\n:60000000\r\n:5\r\n:1790000000000000\r\n:23\r\n")
}
