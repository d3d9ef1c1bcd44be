package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// counter is the Redis in which all nodes count. It keeps nothing on disk, so a kill empties it.
type counter struct {
	process
	dir, host string
	port      int
}

func newCounter(s *site) (*counter, error) {
	c := &counter{dir: filepath.Join(s.dir, "redis")}
	var err error
	if c.space, c.host, err = s.space(); err != nil {
		return c, err
	}
	if c.port, err = port(c.space, c.host); err != nil {
		return c, err
	}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return c, err
	}
	return c, c.start()
}

func (c *counter) address() string { return net.JoinHostPort(c.host, strconv.Itoa(c.port)) }

func (c *counter) start() error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		program = "valkey-server"
	}
	return c.run(exec.Command(program, "--bind", c.host, "--port", strconv.Itoa(c.port), "--dir", c.dir, "--save", "",
		"--appendonly", "no", "--protected-mode", "no"), c.address())
}

// empty removes all that is counted.
func (c *counter) empty() error {
	conn, err := net.DialTimeout("tcp", c.address(), time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprint(conn, "FLUSHALL\r\n")
	if said, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.HasPrefix(said, "+OK") {
		return fmt.Errorf("FLUSHALL is answered %q, %v", said, err)
	}
	return nil
}
