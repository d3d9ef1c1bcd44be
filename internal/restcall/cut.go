package restcall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
)

// errCut says that an answer is a stream that had not ended when its time or its room was up.
var errCut = errors.New("restcall: the stream was cut")

// streamTypes are types of answers that are made of whole pieces, each of which is of use without those that follow.
var streamTypes = []string{
	"text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
	"application/jsonlines", "application/json-seq", "application/stream+json", "application/geo+json-seq",
}

// isStream reports whether an answer comes in pieces: by its type, by the parameter that Kubernetes adds for a watch,
// or because it is plain text of unknown length, such as a log that is followed.
func isStream(resp *http.Response) bool {
	media, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && (slices.Contains(streamTypes, media) || isJSON(media) && params["stream"] != "" ||
		media == "text/plain" && resp.ContentLength < 0)
}

// firstPieces returns the pieces of a stream that are whole: up to the last end of a line, of an event stream up to the
// last empty line. A secret that the cut has halved is not among them.
func firstPieces(resp *http.Response, body []byte) []byte {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media != "text/event-stream" {
		return body[:bytes.LastIndexByte(body, '\n')+1]
	}
	end := 0
	for _, blank := range []string{"\n\n", "\r\r", "\n\r\n"} {
		if i := bytes.LastIndex(body, []byte(blank)); i >= 0 {
			end = max(end, i+len(blank))
		}
	}
	return body[:end]
}

// beginning returns the whole pieces of a stream that did not end by itself, with an errCut that says why; only the
// error if there are none.
func (c *Caller) beginning(resp *http.Response, body []byte, err error) ([]byte, error) {
	why := "the connection broke off"
	switch {
	case errors.Is(err, errTooLong):
		body, why = body[:c.maxResponse], fmt.Sprintf("at most %d bytes are passed on", c.maxResponse)
	case errors.Is(err, context.DeadlineExceeded):
		why = "the time of the call was up"
	case !errors.Is(err, errBroken):
		return nil, err
	}
	if body = firstPieces(resp, body); len(body) == 0 {
		return nil, err
	}
	return body, fmt.Errorf("%w: %s", errCut, why)
}
