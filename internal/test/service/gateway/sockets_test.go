package gateway_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const wsKey = "dGhlIHNhbXBsZSBub25jZQ==" // of RFC 6455 1.3

func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// frame is a short WebSocket frame (RFC 6455 5.2); clients mask theirs.
func frame(opcode byte, text string, masked bool) []byte {
	out := []byte{0x80 | opcode, byte(len(text))}
	body := []byte(text)
	if masked {
		mask := []byte{1, 2, 3, 4}
		out[1] |= 0x80
		out = append(out, mask...)
		for i := range body {
			body[i] ^= mask[i%4]
		}
	}
	return append(out, body...)
}

// readFrame reads one and returns its opcode and its text.
func readFrame(r io.Reader) (byte, string, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, "", err
	}
	var mask [4]byte
	if head[1]&0x80 != 0 {
		if err := binary.Read(r, binary.BigEndian, &mask); err != nil {
			return 0, "", err
		}
	}
	body := make([]byte, head[1]&0x7f)
	_, err := io.ReadFull(r, body)
	for i := range body {
		body[i] ^= mask[i%4]
	}
	return head[0] & 0x0f, string(body), err
}

// sockets is a WebSocket echo service.
type sockets struct {
	requested atomic.Int32
	header    chan http.Header
	ended     chan error
}

func newSockets() *sockets {
	return &sockets{header: make(chan http.Header, 8), ended: make(chan error, 8)}
}

func (s *sockets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requested.Add(1)
	s.header <- r.Header
	if r.Header.Get("Upgrade") != "websocket" {
		io.WriteString(w, "no socket")
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: "+accept(r.Header.Get("Sec-WebSocket-Key"))+"\r\n\r\n")
	for {
		opcode, text, err := readFrame(rw)
		if err != nil || text == "bye" {
			s.ended <- err
			return
		}
		conn.Write(frame(opcode, text, false))
	}
}

func handshake(bearer string, more ...string) string {
	return "GET /svc/chat HTTP/1.1\r\nHost: id.example.com\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + wsKey +
		"\r\nOrigin: https://any.example\r\nX-Request-Id: id-1\r\nAuthorization: Bearer " + bearer + "\r\n" +
		strings.Join(more, "") + "\r\n"
}

// connect opens a WebSocket through the gateway.
func connect(t *testing.T, h *fixture, bearer string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, in := raw(t, h.open().Listener.Addr().String(), handshake(bearer))
	resp := must(http.ReadResponse(in, nil))(t)
	if resp.StatusCode != 101 || resp.Header.Get("Sec-Websocket-Accept") != accept(wsKey) ||
		resp.Header.Get("X-Request-Id") != "id-1" {
		t.Fatalf("answered %d %v", resp.StatusCode, resp.Header)
	}
	return conn, in
}

func echo(t *testing.T, conn io.Writer, in io.Reader, text string) {
	t.Helper()
	conn.Write(frame(1, text, true))
	if opcode, got, err := readFrame(in); got != text || opcode != 1 || err != nil {
		t.Fatalf("said %q, answered %d %q, %v", text, opcode, got, err)
	}
}

func ending(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("the service was not told that it is over")
		return nil
	}
}
