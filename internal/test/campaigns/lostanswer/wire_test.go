package lostanswer_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/internal/test/database"
)

// wire stands between a service and its database. It can lose the answers to statements: the server
// has carried them out and has said so, and the connection ends instead.
type wire struct {
	database.Losses
	stay atomic.Bool // after the last loss nobody gets through any more
	away atomic.Bool
}

// newWire returns a wire to the server of a DSN, and the DSN that leads through it.
func newWire(t *testing.T, dsn string) (*wire, string) {
	t.Helper()
	w := &wire{}
	return w, database.Through(t, dsn, w.carry)
}

// lose has answers lost, as Losses.Begin says. stay keeps the database out of reach from the last one on, until heal
// is called.
func (w *wire) lose(stay bool, gaps ...int) {
	w.stay.Store(stay)
	w.Begin(gaps...)
}

func (w *wire) heal() { w.away.Store(false) }

func (w *wire) carry(client, server net.Conn) {
	if w.away.Load() {
		return
	}
	from := bufio.NewReader(server)
	for {
		answer, done, err := next(from)
		if err != nil || w.away.Load() {
			return
		}
		if done {
			if lost, last := w.Next(); lost {
				w.away.Store(last && w.stay.Load())
				return
			}
		}
		if _, err := client.Write(answer); err != nil {
			return
		}
	}
}

// next reads messages up to the one by which the server waits for more, or asks for a password. done
// tells that a statement was carried out, and not only prepared.
func next(from *bufio.Reader) (answer []byte, done bool, err error) {
	for {
		var head [5]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return nil, false, err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return nil, false, err
		}
		answer = append(append(answer, head[:]...), body...)
		switch head[0] {
		case 'C', 'E': // CommandComplete, ErrorResponse
			done = true
		case 'Z': // ReadyForQuery
			return answer, done, nil
		case 'R': // Authentication
			return answer, false, nil
		}
	}
}
