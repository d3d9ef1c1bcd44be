//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
)

// conn is a connection that is kept alive and knows as much HTTP/1.1 as the measured
// servers speak: what a client costs here, the server on the same processors lacks.
type conn struct {
	net.Conn
	host     string
	in       *bufio.Reader
	out      []byte
	status   int
	location []byte // valid until the next request, like body
	body     []byte
}

func dial(address string) (*conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, host: address, in: bufio.NewReaderSize(c, 16<<10)}, nil
}

// get sends a GET; header is nothing or whole lines with their ends.
func (c *conn) get(path, header string) error {
	c.out = append(c.out[:0], "GET "+path+" HTTP/1.1\r\nHost: "+c.host+"\r\n"+header+"\r\n"...)
	return c.do()
}

func (c *conn) post(path, form string) error {
	c.out = append(c.out[:0], "POST "+path+" HTTP/1.1\r\nHost: "+c.host+"\r\nContent-Type: "+
		"application/x-www-form-urlencoded\r\nContent-Length: "...)
	c.out = strconv.AppendInt(c.out, int64(len(form)), 10)
	c.out = append(append(c.out, "\r\n\r\n"...), form...)
	return c.do()
}

func (c *conn) do() error {
	if _, err := c.Write(c.out); err != nil {
		return err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(line) < len("HTTP/1.1 200") {
		return fmt.Errorf("a status line that says %q", line)
	}
	if c.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return err
	}
	length, err := c.header()
	if err != nil {
		return err
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	_, err = io.ReadFull(c.in, c.body)
	return err
}

// header reads the header and returns the length of the body.
func (c *conn) header() (length int, err error) {
	c.location = c.location[:0]
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		case bytes.EqualFold(name, []byte("Location")):
			c.location = append(c.location, value...)
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return 0, fmt.Errorf("a body that is %s: it is not read here", value)
		}
	}
}

// want fails unless the last answer has this status.
func (c *conn) want(status int) error {
	if c.status != status {
		return fmt.Errorf("answered %d %s, want %d", c.status, c.body, status)
	}
	return nil
}

// member is the text value of a member of the JSON body, which has no escapes in it.
func (c *conn) member(name string) (string, error) {
	_, rest, found := bytes.Cut(c.body, []byte(`"`+name+`":"`))
	value, _, closed := bytes.Cut(rest, []byte(`"`))
	if !found || !closed {
		return "", fmt.Errorf("answered %d %s, without %s", c.status, c.body, name)
	}
	return string(value), nil
}
