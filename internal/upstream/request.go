package upstream

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxBody bounds the body of a request that is sent here, with its head: one write of so much does not wait for the
// service to read it. While a longer one is sent, net/http hears an answer that comes early.
const maxBody = 16 << 10

// appendHead writes the head of a request as net/http does, but for the order of the fields. It reports whether it
// could: of all that is unusual, and all that net/http refuses, nothing is judged here.
func appendHead(b []byte, r *http.Request, gzip bool) (_ []byte, ok bool) {
	u := r.URL
	if u == nil || u.Scheme != "http" || !isHost(u.Host) || u.Opaque != "" || r.Header == nil || r.Close ||
		canBeCancelled(r) || len(r.TransferEncoding) > 0 || len(r.Trailer) > 0 || !takesBody(r) ||
		r.Method == http.MethodConnect || r.Method != "" && !isToken(r.Method) {
		return b, false
	}
	b = append(b, orGet(r.Method)...)
	b = append(b, ' ')
	from := len(b)
	if path := u.EscapedPath(); path != "" {
		b = append(b, path...)
	} else {
		b = append(b, '/')
	}
	if u.ForceQuery || u.RawQuery != "" {
		b = append(b, '?')
		b = append(b, u.RawQuery...)
	}
	if slices.ContainsFunc(b[from:], func(c byte) bool { return c <= ' ' || c == 0x7f }) {
		return b, false
	}
	host := r.Host
	if host == "" {
		host = u.Host
	} else if host != u.Host && !isHost(host) {
		return b, false
	}
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	b = append(b, '\r', '\n')
	if b, ok = appendFields(b, r.Header); !ok {
		return b, false
	}
	switch {
	case hasBody(r):
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, r.ContentLength, 10)
		b = append(b, '\r', '\n')
	case r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch:
		b = append(b, "Content-Length: 0\r\n"...)
	}
	if gzip {
		b = append(b, "Accept-Encoding: gzip\r\n"...)
	}
	return append(b, '\r', '\n'), true
}

// canBeCancelled reports whether a call may end otherwise than by its context.
func canBeCancelled(r *http.Request) bool {
	//lint:ignore SA1019 http.Client sets it, for a timeout
	return r.Cancel != nil
}

func orGet(method string) string {
	if method == "" {
		return http.MethodGet
	}
	return method
}

// appendFields writes the fields of a header, and a User-Agent if there is none.
func appendFields(b []byte, h http.Header) (_ []byte, ok bool) {
	if !has(h, "User-Agent") {
		b = append(b, "User-Agent: Go-http-client/1.1\r\n"...)
	}
	for name, values := range h {
		if !isToken(name) || slices.ContainsFunc(values, func(v string) bool { return !isValue(v) }) {
			return b, false
		}
		switch name {
		case "Connection", "Upgrade", "Expect":
			return b, false
		case "Host", "Content-Length", "Transfer-Encoding", "Trailer": // the request itself says these
			continue
		case "User-Agent":
			if values = values[:min(len(values), 1)]; h.Get(name) == "" {
				continue
			}
		}
		for _, value := range values {
			b = append(b, name...)
			b = append(b, ':', ' ')
			b = append(b, strings.Trim(value, " \t")...)
			b = append(b, '\r', '\n')
		}
	}
	return b, true
}

func has(h http.Header, name string) bool {
	_, ok := h[name]
	return ok
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// takesBody reports whether the body of a request is short, and known to be. Of a length of 0 net/http has to find out.
func takesBody(r *http.Request) bool {
	if !hasBody(r) {
		return r.ContentLength == 0
	}
	return r.ContentLength > 0 && r.ContentLength <= maxBody
}

// appendBody reads and closes the body of a request. It is as long as it is said to be, or an error.
func appendBody(b []byte, r *http.Request) ([]byte, error) {
	if !hasBody(r) {
		return b, nil
	}
	defer r.Body.Close()
	length := int(r.ContentLength)
	b = slices.Grow(b, length+1)
	read, err := io.ReadFull(r.Body, b[len(b):len(b)+length+1])
	switch {
	case err == nil || (err == io.EOF || err == io.ErrUnexpectedEOF) && read < length:
		return b, fmt.Errorf("upstream: a body of another length than its ContentLength, which is %d", length)
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		return b, err
	}
	return b[:len(b)+length], nil
}

// address returns what to dial for the host of a URL.
func address(host string) string {
	if strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']') {
		return host
	}
	return host + ":80"
}

// isHost reports whether a host is a name or an address, maybe with a port, that is sent and dialled as it is written.
func isHost(host string) bool {
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name, port = host[:i], host[i+1:]
		if port == "" || strings.Trim(port, "0123456789") != "" {
			return false
		}
	}
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		return len(name) > 2 && strings.Trim(name[1:len(name)-1], "0123456789abcdefABCDEF:.") == ""
	}
	for i := range len(name) {
		if c := name[i]; c != '.' && (c == '\'' || !tokens[c]) {
			return false
		}
	}
	return name != ""
}

// tokens are the characters of names of methods and fields (RFC 9110 5.6.2).
var tokens = func() (is [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = true
	}
	return is
}()

func isToken(s string) bool {
	for i := range len(s) {
		if !tokens[s[i]] {
			return false
		}
	}
	return s != ""
}

// isValue reports whether the value of a field has no control characters but tabs.
func isValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
