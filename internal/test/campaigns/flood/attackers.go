package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// army attacks by connections. It is a process of its own, and a nice one: on a machine
// that it shares with the server and with the one who measures, it is to take the server's
// connections and not the time of the processors, which attackers elsewhere do not have.
type army struct {
	From       []string // its addresses
	Address    string   // of the server
	Drip, Deaf int      // connections
}

const (
	armyWord = "attack" // the first argument of the process
	armyNice = "10"
)

// start sends the army off; it ends by itself, or with ctx.
func (a army) start(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	orders, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "nice", "-n", armyNice, self, armyWord, string(orders))
	cmd.Stderr = os.Stderr
	return cmd, cmd.Start()
}

// attackAsOrdered runs the army's process. It reports false in any other process.
func attackAsOrdered(args []string) (is bool) {
	if len(args) != 3 || args[1] != armyWord {
		return false
	}
	var a army
	if err := json.Unmarshal([]byte(args[2]), &a); err != nil {
		fmt.Fprintln(os.Stderr, "flood:", err)
		os.Exit(2)
	}
	a.hold(context.Background())
	return true
}

// hold opens the connections. A refused attacker tries again for a while.
func (a army) hold(ctx context.Context) {
	began, deaf := time.Now(), a.Deaf
	var all sync.WaitGroup
	dials := make(chan struct{}, dialAtOnce)
	for i := range a.Drip + a.Deaf {
		attacker := attacker{from: a.From[i%len(a.From)], address: a.Address, dials: dials, act: dripBody}
		if i%6 == 5 && deaf > 0 {
			deaf--
			attacker.act = requestUnread
		}
		all.Go(func() {
			for ctx.Err() == nil && time.Since(began) < comeAgain {
				if attacker.attack(ctx) > time.Second { // it was held
					return
				}
				pauseFor(ctx, dripEvery)
			}
		})
	}
	all.Wait()
}

type attacker struct {
	from, address string
	dials         chan struct{}
	act           func(context.Context, net.Conn)
}

// attack holds one connection as long as it can, and says how long.
func (a attacker) attack(ctx context.Context) time.Duration {
	a.dials <- struct{}{}
	dialer := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(a.from)}, Control: smallBuffer}
	conn, err := dialer.DialContext(ctx, "tcp", a.address)
	<-a.dials
	if err != nil {
		return 0
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	began := time.Now()
	a.act(ctx, conn)
	return time.Since(began)
}

// smallBuffer keeps the kernel from reading in place of a client that does not.
func smallBuffer(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
}

// dripBody sends a body byte by byte until it is told to stop.
func dripBody(ctx context.Context, conn net.Conn) {
	_, err := fmt.Fprint(conn, "POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1:9\r\n"+
		"Content-Type: "+aForm+"\r\nContent-Length: 5000\r\n\r\ngrant_type=")
	for err == nil && ctx.Err() == nil {
		pauseFor(ctx, dripEvery)
		_, err = io.WriteString(conn, "x")
	}
}

// requestUnread asks for much, does not read it, and notices only that the connection is reset.
func requestUnread(ctx context.Context, conn net.Conn) {
	_, err := io.WriteString(conn, strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n", 50))
	for err == nil && ctx.Err() == nil {
		pauseFor(ctx, dripEvery)
		_, err = io.WriteString(conn, "G")
	}
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
