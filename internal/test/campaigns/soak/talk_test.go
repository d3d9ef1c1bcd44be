package main

import (
	"io"
	"net"
	"testing"
	"time"
)

// talk says something to a mail server, and returns what it says until it hangs up.
func talk(t *testing.T, m *mailServer, says string) string {
	t.Helper()
	c, err := net.Dial("tcp", m.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, says)  // one that has hung up does not read it
	text, _ := io.ReadAll(c) // nor is a reset connection an answer
	return string(text)
}
