package resp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"
)

// Dial connects to one of a Target's addresses, or to another one that a server has named, and greets the server. A
// connection that leaves a command without an answer for patience is given up.
func Dial(ctx context.Context, t Target, address string, patience time.Duration) (*Conn, error) {
	nc, err := t.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	in, err := t.greet(ctx, nc)
	if err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	return newConn(nc, in, patience), nil
}

func (t *Target) connect(ctx context.Context, address string) (net.Conn, error) {
	if t.TLS == nil {
		return new(net.Dialer).DialContext(ctx, t.Network, address)
	}
	return (&tls.Dialer{Config: t.TLS}).DialContext(ctx, t.Network, address)
}

// greet says who connects, and reads the answers to that. Bytes that the server has sent beyond them are noticed at
// the first command.
func (t *Target) greet(ctx context.Context, nc net.Conn) (*reader, error) {
	if by, ok := ctx.Deadline(); ok {
		if err := nc.SetDeadline(by); err != nil {
			return nil, err
		}
	}
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	in := newReader(nc)
	err := t.hello(nc, in)
	if err == nil && t.DB != 0 {
		_, err = ask(nc, in, "SELECT", strconv.Itoa(t.DB))
	}
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err == nil {
		err = nc.SetDeadline(time.Time{})
	}
	return in, err
}

// hello speaks RESP 3 where the server knows it, and RESP 2 where it does not.
func (t *Target) hello(nc net.Conn, in *reader) error {
	if !t.Old {
		words := []string{"HELLO", "3"}
		if t.Password != "" {
			words = append(words, "AUTH", cmp.Or(t.User, "default"), t.Password)
		}
		if t.Name != "" {
			words = append(words, "SETNAME", t.Name)
		}
		switch v, err := ask(nc, in, words...); {
		case err == nil && v.Kind != List:
			return errProtocol
		case !unknown(err):
			return err
		}
	}
	if t.Password != "" {
		words := []string{"AUTH", t.User, t.Password}
		if t.User == "" {
			words = []string{"AUTH", t.Password}
		}
		if _, err := ask(nc, in, words...); err != nil {
			return err
		}
	}
	if t.Name != "" {
		if _, err := ask(nc, in, "CLIENT", "SETNAME", t.Name); !saidBy(err) { // a proxy need not know that
			return err
		}
	}
	return nil
}

// unknown reports whether a server has no HELLO, or no RESP 3.
func unknown(err error) bool {
	return saidBy(err) && (strings.HasPrefix(err.Error(), "NOPROTO") ||
		strings.HasPrefix(strings.ToLower(err.Error()), "err unknown command"))
}

// saidBy reports whether a server has answered an error, and the connection works.
func saidBy(err error) bool {
	var e Error
	return errors.As(err, &e)
}

// ask sends a command of a greeting and reads its answer.
func ask(nc net.Conn, in *reader, words ...string) (v Value, err error) {
	if _, err := nc.Write(Command(words).append(nil)); err != nil {
		return v, err
	}
	in.left = bytesMost
	if v, err = in.value(0); err != nil {
		return v, err
	}
	return v, v.Err()
}
