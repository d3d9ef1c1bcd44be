package plainhttp

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	mostHeld = 2 << 10 // bytes of a body that are held back until its length is known
	mostOut  = 4 << 10 // bytes that are held back until they are written to the connection
)

// writers hold what an answer is written through: the body's bytes are gathered to chunks, and these with the head to
// what goes to the connection.
type writers struct {
	body *bufio.Writer // to (*chunks)(response)
	out  *bufio.Writer // to (*sink)(conn)
	head fields
}

var freeWriters = sync.Pool{New: func() any {
	return &writers{body: bufio.NewWriterSize(nil, mostHeld), out: bufio.NewWriterSize(nil, mostOut)}
}}

func takeWriters(w *response) *writers {
	free := freeWriters.Get().(*writers)
	free.body.Reset((*chunks)(w))
	free.out.Reset((*sink)(w.conn))
	return free
}

// giveWriters takes them back from an answer that is over.
func giveWriters(w *writers) {
	w.body.Reset(nil)
	w.out.Reset(nil)
	w.head.clear()
	freeWriters.Put(w)
}

// sink writes to the connection.
type sink conn

func (s *sink) Write(p []byte) (int, error) {
	c := (*conn)(s)
	n, err := c.Conn.Write(p)
	if err != nil {
		c.broken.Store(true)
		c.watch.lost()
	}
	return n, err
}

// chunks writes the head of an answer before its body, and the body in chunks where its length is not known.
type chunks response

func (k *chunks) Write(p []byte) (n int, err error) {
	w := (*response)(k)
	if !w.sentHead {
		w.writeHead(p)
	}
	if w.request.Method == http.MethodHead {
		return len(p), nil
	}
	out := w.writers.out
	if w.chunked {
		b := strconv.AppendInt(out.AvailableBuffer(), int64(len(p)), 16)
		_, err = out.Write(append(b, "\r\n"...))
	}
	if err == nil {
		n, err = out.Write(p)
	}
	if err == nil && w.chunked {
		_, err = out.WriteString("\r\n")
	}
	if err != nil {
		w.conn.Close()
	}
	return n, err
}

// second is a second in the form of the Date field.
type second struct {
	unix int64
	text string
}

var lastSecond atomic.Pointer[second]

// date returns the time for the Date field.
func date() string {
	now := time.Now()
	s := lastSecond.Load()
	if s == nil || s.unix != now.Unix() {
		s = &second{now.Unix(), now.UTC().Format(http.TimeFormat)}
		lastSecond.Store(s)
	}
	return s.text
}

var noLineEnds = strings.NewReplacer("\n", " ", "\r", " ")
