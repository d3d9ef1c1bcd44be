package link

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"net"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// dial has each new connection of a server that is up looked into at once: it may have been started again.
func (l *Link) dial(by dialer) dialer {
	if by == nil {
		by = dialNet
	}
	return func(ctx context.Context, to string, d *net.Dialer, c *tls.Config) (net.Conn, error) {
		conn, err := by(ctx, to, d, c)
		if err == nil && l.up.Load() {
			signal(l.look)
		}
		return conn, err
	}
}

type dialer = func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error)

func dialNet(ctx context.Context, to string, d *net.Dialer, c *tls.Config) (net.Conn, error) {
	if c == nil {
		return d.DialContext(ctx, "tcp", to)
	}
	return (&tls.Dialer{NetDialer: d, Config: c}).DialContext(ctx, "tcp", to)
}

// check looks whether the server still has what it counted.
func (l *Link) check(ctx context.Context) {
	client := *l.client.Load()
	if err := l.readMarks(ctx, client); err != nil {
		l.failed(client, err)
	}
}

// readMarks reads what each master is known by. One that it is not known by has lost its counts.
func (l *Link) readMarks(ctx context.Context, client rueidis.Client) error {
	ctx, cancel := context.WithTimeout(ctx, l.c.Timeout)
	defer cancel()
	n := 1
	if client.Mode() == rueidis.ClientModeCluster {
		n = marks
	}
	lives := strconv.FormatInt(markLives.Milliseconds(), 10)
	cmds := make(rueidis.Commands, n)
	for i := range n {
		cmds[i] = client.B().Eval().Script(l.c.Marker).Numkeys(1).Key(l.c.Mark(i)).Arg("", l.fresh(), lives).Build()
	}
	found := make([]string, n)
	for i, r := range client.DoMulti(ctx, cmds...) {
		text, err := r.ToString()
		if err != nil {
			return err
		}
		found[i] = text
	}
	l.compare(found)
	return nil
}

// fresh makes a mark: the seed that is known, or a new one, and what no other mark has.
func (l *Link) fresh() string {
	var mark [32]byte
	rand.Read(mark[:])
	if seed := l.seed.Load(); seed != nil {
		copy(mark[:], seed[:])
	}
	return string(mark[:])
}

func (l *Link) compare(found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := false
	for i, mark := range found {
		lost = lost || l.marks[i] != "" && l.marks[i] != mark
		l.marks[i] = mark
	}
	if len(found[0]) >= 16 {
		seed := [16]byte([]byte(found[0]))
		l.seed.Store(&seed)
	}
	if lost {
		l.back.Store(int64(time.Since(l.start)))
		l.c.Log.Warn("redis: the server has lost its counts; for a while each limit is kept by it and by each node's share")
	}
}
