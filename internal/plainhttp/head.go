package plainhttp

import (
	"bytes"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

// head is the head of a plain request.
type head struct {
	method, target, host string
	url                  *url.URL
	header               http.Header // without Host, names in canonical form
	length               int64       // of the body
}

var endOfHead = []byte("\r\n\r\n")

// parse reads the head that b begins with and returns its length in bytes. It returns 0 if the head is not whole
// or not plain: then nothing is known of it.
func (h *head) parse(b []byte) int {
	end := bytes.Index(b, endOfHead)
	if end < 0 {
		return 0
	}
	line, fields, _ := strings.Cut(string(b[:end+2]), "\r\n")
	if !h.requestLine(line) || !h.fields(fields) || h.host == "" {
		return 0
	}
	return end + len(endOfHead)
}

func (h *head) requestLine(line string) (ok bool) {
	method, line, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(line, " ")
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodPatch,
		http.MethodOptions:
	default:
		return false
	}
	if version != "HTTP/1.1" || !originForm(target) {
		return false
	}
	u, err := url.ParseRequestURI(target)
	h.method, h.target, h.url = method, target, u
	return err == nil
}

// originForm reports whether a target is an absolute path, and maybe a query, of visible ASCII. A path that begins
// with two slashes is taken for an authority by some.
func originForm(target string) bool {
	if target == "" || target[0] != '/' || len(target) > 1 && target[1] == '/' {
		return false
	}
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// fields reads the lines after the first, each with its end.
func (h *head) fields(text string) (ok bool) {
	n := strings.Count(text, "\n")
	h.header = make(http.Header, n)
	values := make([]string, n) // of one slice, as most names are there once
	for text != "" {
		line, rest, found := strings.Cut(text, "\r\n")
		name, value, colon := strings.Cut(line, ":")
		if !found || !colon || !plainName(name) || !plainValue(value) {
			return false
		}
		text, value = rest, strings.Trim(value, " ")
		name = textproto.CanonicalMIMEHeaderKey(name)
		if !h.understand(name, value) {
			return false
		}
		if name == "Host" {
			continue
		}
		if before, again := h.header[name]; again {
			h.header[name] = append(before, value)
			continue
		}
		values[0] = value
		h.header[name], values = values[:1:1], values[1:]
	}
	return true
}

// understand handles the fields that say where a message goes and ends. It refuses those that ask for more than to be
// answered, and Pragma, which net/http translates.
func (h *head) understand(name, value string) (ok bool) {
	switch name {
	case "Host":
		ok = h.host == "" && plainHost(value)
		h.host = value
		return ok
	case "Content-Length":
		if _, again := h.header[name]; again {
			return false
		}
		h.length, ok = plainLength(value)
		return ok
	case "Connection": // many clients send what is so without it
		return strings.EqualFold(value, "keep-alive")
	case "Transfer-Encoding", "Trailer", "Te", "Expect", "Upgrade", "Pragma":
		return false
	}
	return true
}

// plainName accepts letters, digits and hyphens: of the other tokens some are read in two ways.
func plainName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letterOrDigit(c) && c != '-' {
			return false
		}
	}
	return s != ""
}

// plainValue accepts visible ASCII and spaces.
func plainValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// plainHost accepts names, IPv4 and IPv6 addresses, with a port or without.
func plainHost(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letterOrDigit(c) && !strings.Contains("-.:[]", s[i:i+1]) {
			return false
		}
	}
	return s != ""
}

// plainLength accepts what nobody can read as another number.
func plainLength(s string) (n int64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	if len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

func letterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
