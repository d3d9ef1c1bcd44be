package restcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// errCut says that an answer is a stream that had not ended when its time or its room was up.
var errCut = errors.New("restcall: the stream was cut")

// typeEvents is the type of a stream of events, whose pieces end at an empty line.
const typeEvents = "text/event-stream"

// streamTypes are types of answers that are made of whole pieces, each of which is of use without those that follow,
// beside those of IsLines.
var streamTypes = []string{typeEvents, "application/stream+json", "application/geo+json-seq"}

// isStream reports whether an answer comes in pieces: by its type, by the parameter that Kubernetes adds for a watch,
// or, of unknown length, because it is text in lines, such as a log that is followed, or may be JSON in lines, as
// Docker sends its events.
//
// Of a stream that does not end, the whole events or lines that came within the time and the size of a call are
// returned, and the result says that it was cut. Streams are server-sent events, lines of JSON under any media
// type, watches, and lines of text of unknown length.
func isStream(resp *http.Response) bool {
	contentType := resp.Header.Get("Content-Type")
	if contentType == "application/json" && resp.ContentLength >= 0 {
		return false // as most answers are
	}
	media, params, err := mime.ParseMediaType(contentType)
	inPieces := slices.Contains(streamTypes, media) || IsLines(media) || isJSON(media) && params["stream"] != ""
	return err == nil && (inPieces || resp.ContentLength < 0 && (isJSON(media) || isTextInLines(media)))
}

func isTextInLines(media string) bool {
	return strings.HasPrefix(media, "text/") && media != "text/html" && media != "text/xml"
}

// firstPieces returns the pieces of a stream that are whole: up to the last end of a line, of an event stream up to the
// last empty line. A secret that the cut has halved is not among them.
func firstPieces(resp *http.Response, body []byte) []byte {
	media, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case media == typeEvents:
		end := 0
		for _, blank := range []string{"\n\n", "\r\r", "\n\r\n"} {
			if i := bytes.LastIndex(body, []byte(blank)); i >= 0 {
				end = max(end, i+len(blank))
			}
		}
		return body[:end]
	case media == typeSequence || media == "application/geo+json-seq": // whose values may have many lines
		last := bytes.LastIndexByte(body, 0x1e)
		if last < 0 || bytes.HasSuffix(body, []byte("\n")) && json.Valid(body[last+1:]) {
			break
		}
		return body[:last]
	case isJSON(media) && params["stream"] == "" && media != "application/stream+json":
		first, more, _ := bytes.Cut(body, []byte("\n"))
		if len(bytes.TrimSpace(more)) == 0 || !json.Valid(first) {
			return nil // one document
		}
	}
	return body[:bytes.LastIndexAny(body, "\r\n")+1]
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
