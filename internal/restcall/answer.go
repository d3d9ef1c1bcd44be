package restcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/rawjson"
)

// read makes a result of an answer. An error means that the time was up.
func (c *Caller) read(ctx context.Context, resp *http.Response, r *Request) (Result, error) {
	result, err := c.readBody(ctx, resp, r)
	status := resp.StatusCode
	// The Location of another redirect than 303 is where the same request should go, and says nothing of a result.
	redirected := status >= 300 && status < 400 && status != http.StatusNotModified &&
		(status != http.StatusSeeOther || r.method == http.MethodGet)
	if err == nil && !redirected {
		headers := slices.DeleteFunc(r.told(resp.Header), func(h Header) bool { return result.linksTo(h.Value) })
		result.toldIn(headers)
	}
	return result, err
}

func (c *Caller) readBody(ctx context.Context, resp *http.Response, r *Request) (Result, error) {
	defer resp.Body.Close()
	status := resp.StatusCode
	result := Result{Status: status, IsError: status < 200 || status > 299}
	if status < 200 || status >= 300 && status < 400 {
		// Not read: the body of 101 never ends, that of a redirect names the upstream.
		result.Content = textResult("%s%s", line(status), r.credential.Redact([]byte(redirect(resp, r.url.Hostname()))))
		return result, nil
	}
	contentType := string(r.credential.Redact([]byte(resp.Header.Get("Content-Type"))))
	body, err := c.body(ctx, resp)
	result.Bytes = int64(len(body))
	var read answered
	cut := err
	if err == nil || errors.Is(err, errCut) {
		read, err = readable(contentType, body, c.maxResponse)
	}
	switch {
	case errors.Is(err, errTooLong):
		result.Bytes = 0
		c.oversize(&result, resp, r, mediaOf(contentType))
		return result, nil
	case errors.Is(err, errBroken):
		result.Content = textResult("%s, but the answer broke off: try again", line(status))
	case errors.Is(err, errEncoding):
		result.Content = textResult("%s, with an answer in a content encoding that was not asked for", line(status))
	case err != nil:
		return Result{}, err
	default:
		read.body = r.credential.Redact(read.body) // of a text that was converted, or it would not be found
		if cut != nil {
			read.whole = false
		}
		result.fill(read)
		if cut != nil {
			why := strings.TrimPrefix(cut.Error(), errCut.Error()+": ")
			more := textResult("This is the beginning of a stream that had not ended: %s.", why)
			result.Content = append(result.Content, more...)
		}
		return result, nil
	}
	result.IsError, result.Cause = true, err
	return result, nil
}

// body reads all of a body, or nothing: what is cut off may still look whole. Of a stream it returns the beginning,
// with an errCut, if there is no end.
func (c *Caller) body(ctx context.Context, resp *http.Response) ([]byte, error) {
	if e := resp.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") && resp.ContentLength != 0 {
		return nil, errEncoding // the transport has undone what it asked for
	}
	stream := isStream(resp)
	if resp.ContentLength > c.maxResponse && !stream {
		return nil, errTooLong
	}
	var out bytes.Buffer
	out.Grow(int(min(max(resp.ContentLength, 0), 64<<10)) + bytes.MinRead)
	n, err := out.ReadFrom(io.LimitReader(resp.Body, c.maxResponse+1))
	switch {
	case n > c.maxResponse:
		err = errTooLong
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = fmt.Errorf("%w: %w", errBroken, err)
	}
	switch {
	case err == nil:
		return out.Bytes(), nil
	case stream:
		return c.beginning(resp, out.Bytes(), err)
	}
	return nil, err
}

// fill turns an answer into content.
func (r *Result) fill(a answered) {
	media := a.media
	kind, _, _ := strings.Cut(media, "/")
	switch {
	case len(a.body) == 0:
		r.Content = textResult("%s, with no content", line(r.Status))
	case a.isText:
		if a.whole && isJSON(media) && rawjson.Check(a.body, rawjson.Limits{Depth: maxDepth}) == nil {
			r.Structured = json.RawMessage(a.body)
		}
		if r.IsError {
			r.Content = textResult("%s\n%s", line(r.Status), a.body)
		} else {
			r.Content = []Content{{Type: "text", Text: string(a.body)}}
		}
	case r.IsError && isText(media) && media != "":
		r.Content = textResult("%s, with %d bytes in a charset that it does not name, or that is not known here",
			line(r.Status), len(a.body))
	case r.IsError:
		r.Content = textResult("%s, with %d bytes that are no text", line(r.Status), len(a.body))
	case kind == "image" || kind == "audio":
		r.Content = []Content{{Type: kind, Data: a.body, MIMEType: media}}
	default:
		if media == "" {
			media = "application/octet-stream"
		}
		r.Content = []Content{{Type: "resource", Resource: &Resource{URI: "urn:keystile:answer", MIMEType: media,
			Blob: a.body}}}
	}
}

// mediaOf is a type without its parameters, "" if it is none.
func mediaOf(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || len(media) > 256 || !strings.Contains(media, "/") {
		return ""
	}
	return media
}

var textTypes = []string{
	"", "application/graphql", "application/javascript", "application/sql", "application/toml",
	"application/x-ndjson", "application/x-www-form-urlencoded", "application/xml", "application/yaml",
	"application/x-yaml",
}

// isText goes by the type alone. SVG is text: models take it for a broken image.
func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || isJSON(media) || slices.Contains(textTypes, media) ||
		strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml")
}

// mayBeText reports whether an answer of a media type that is not known to be text is shown as text if its bytes are:
// pictures, sounds and the like are not.
func mayBeText(media string) bool {
	kind, _, _ := strings.Cut(media, "/")
	return !slices.Contains([]string{"image", "audio", "video", "font", "model"}, kind) && media != "application/pdf"
}

// isPlainText reports whether bytes are UTF-8 with no control characters but those of texts: ends of lines and pages,
// tabs, and the one that begins a record of a json-seq (RFC 7464).
func isPlainText(body []byte) bool {
	return utf8.Valid(body) && !bytes.ContainsFunc(body, func(c rune) bool {
		return unicode.IsControl(c) && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1e
	})
}

// line is the status in our words; the upstream's reason phrase may hold anything.
func line(status int) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, http.StatusText(status)))
}

// redirect says of a redirect whereto, unless that would name the upstream or an address.
func redirect(resp *http.Response, from string) string {
	location := resp.Header.Get("Location")
	if location == "" {
		return ""
	}
	whereto := ""
	if to, err := netguard.CheckURL(location); err == nil && !strings.EqualFold(to.Hostname(), from) {
		if _, err := netip.ParseAddr(to.Hostname()); err != nil {
			whereto = " to " + to.Hostname()
		}
	}
	return ": the upstream redirects" + whereto + ", which is not followed: its owner must register the URL where it ends"
}
