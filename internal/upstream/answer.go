package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

var errStatus = errors.New("upstream: an answer with a status below 100")

// head reads the head of the answer, after those of interim ones. Most are read by quick. The rest, and what is wrong,
// is net/http's.
func (e *exchange) head(c *conn) (*http.Response, error) {
	if res := quick(c.in, e.r); res != nil {
		return res, nil
	}
	for {
		res, err := http.ReadResponse(c.in, e.r)
		switch {
		case err != nil:
			return nil, err
		case res.StatusCode < 100:
			return nil, errStatus
		case res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols:
			return res, nil
		}
		if e.trace != nil && e.trace.Got1xxResponse != nil {
			if err := e.trace.Got1xxResponse(res.StatusCode, textproto.MIMEHeader(res.Header)); err != nil {
				return nil, err
			}
			c.limit = e.maxHead // who is told of them bounds them, as with net/http
		}
	}
}

// quick reads a head that has come as a whole, that leaves nothing to be judged and that has a body of known length,
// which stays where it is. Of all others it reads nothing, and returns nil.
func quick(in *bufio.Reader, r *http.Request) *http.Response {
	here, _ := in.Peek(in.Buffered())
	end := bytes.Index(here, []byte("\r\n\r\n"))
	if end < 0 || !bytes.HasPrefix(here, []byte("HTTP/1.1 ")) {
		return nil
	}
	status, fields, _ := strings.Cut(string(here[len("HTTP/1.1 "):end+2]), "\r\n")
	code, ok := statusCode(status)
	if !ok {
		return nil
	}
	header := quickFields(fields)
	length, ok := quickLength(header)
	if !ok {
		return nil
	}
	in.Discard(end + 4)
	return &http.Response{Status: status, StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: length, Request: r}
}

// statusCode reads the code of an answer that is the last one and may have a body.
func statusCode(status string) (int, bool) {
	if len(status) < 3 || len(status) > 3 && status[3] != ' ' || !isValue(status) {
		return 0, false
	}
	code, err := strconv.Atoi(status[:3])
	return code, err == nil && code >= 200 && code != http.StatusNoContent && code != http.StatusNotModified
}

// quickFields reads the fields of a header, each of which ends with CRLF; nil if one is not plain.
func quickFields(text string) http.Header {
	n := strings.Count(text, "\n")
	header, values := make(http.Header, n), make([]string, n)
	for text != "" {
		line, rest, _ := strings.Cut(text, "\r\n")
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) || !isValue(value) {
			return nil
		}
		text, name, value = rest, textproto.CanonicalMIMEHeaderKey(name), strings.Trim(value, " \t")
		if before, ok := header[name]; ok {
			header[name] = append(before, value)
			continue
		}
		values[0] = value
		header[name], values = values[:1:1], values[1:] // who adds to one does not write into the next
	}
	return header
}

// quickLength returns the length of the body, if the header says it once and nothing else of the body's end or of the
// connection's.
func quickLength(h http.Header) (int64, bool) {
	switch lengths := h["Content-Length"]; {
	case len(lengths) != 1 || h["Transfer-Encoding"] != nil || h["Connection"] != nil ||
		h["Pragma"] != nil: // for which net/http adds a field
		return 0, false
	default:
		n, err := strconv.ParseUint(lengths[0], 10, 63)
		return int64(n), err == nil && lengths[0][0] != '+'
	}
}
