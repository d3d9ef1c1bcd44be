package restcall

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/netguard"
)

// Result holds the outcome of a call of a tool.
type Result struct {
	IsError    bool
	Content    []Content       // never empty
	Structured json.RawMessage // the answer, if it is JSON of any kind and at most 64 levels
	Headers    []Header        // those of the answer that are told; Content has them too

	Dispatched bool  // false: the call was refused before anything was dialled
	Status     int   // of the answer; 0: none came
	Bytes      int64 // of the answer's body, after decompression; 0: it was not passed on
	Cause      error // why there is no answer. For the log: it may name the upstream's address
}

// Content is one block of content as MCP writes it.
type Content struct {
	Type     string    `json:"type"` // text, image, audio, resource or resource_link
	Text     string    `json:"text,omitempty"`
	Data     []byte    `json:"data,omitempty"` // of image and audio; base64 in JSON
	MIMEType string    `json:"mimeType,omitempty"`
	Resource *Resource `json:"resource,omitempty"`
	*Link
}

// Link holds the members of a resource_link besides its type (MCP 2025-06-18, tools): where something
// can be had.
type Link struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Size        int64  `json:"size,omitempty"` // bytes; 0: not known
}

// Resource is an embedded resource: bytes that are neither text, image nor sound.
type Resource struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitempty"`
	Blob     []byte `json:"blob"` // base64 in JSON
}

func textResult(format string, args ...any) []Content {
	return []Content{{Type: "text", Text: fmt.Sprintf(format, args...)}}
}

func failed(why string) Result { return Result{IsError: true, Content: textResult("%s", why)} }

var (
	errTooLong  = errors.New("restcall: the answer is too long")
	errBroken   = errors.New("restcall: the answer broke off")
	errEncoding = errors.New("restcall: the answer has a content encoding that was not asked for")
)

// errTimeout says that a call has had all its time.
type errTimeout struct {
	after time.Duration
	cause error
}

func (t *errTimeout) Error() string {
	return fmt.Sprintf("restcall: the %v of the call are up: %v", t.after, t.cause)
}
func (t *errTimeout) Unwrap() error { return t.cause }

// toFailure makes a result of a failure. Its text is the same for every upstream. A model that is told to try again
// does so: if the call may have changed something, it is told to look first.
func toFailure(err error, r *Request) Result {
	var why string
	refused, up, slow, cert := (*netguard.Refused)(nil), (*errTimeout)(nil), net.Error(nil),
		(*tls.CertificateVerificationError)(nil)
	switch {
	case errors.As(err, &refused):
		why = refused.Error() + ": the tool's upstream is not on the public network; the operator of this service can " +
			"admit it (upstreams.allow_private)"
	case errors.As(err, &up):
		why = fmt.Sprintf("the tool's upstream did not answer within %v: try again, or ask for less; its owner can "+
			"register it with a longer timeout", up.after)
	case errors.As(err, &slow) && slow.Timeout():
		why = "the tool's upstream did not answer in time: try again later"
	case errors.As(err, &cert):
		why = "the TLS certificate of the tool's upstream is not valid: its owner must renew it"
	default:
		why = "the tool's upstream could not be reached: try again later"
	}
	dial := (*net.OpError)(nil)
	unsent := refused != nil || cert != nil || errors.As(err, &dial) && dial.Op == "dial"
	if !unsent && !reads(r.method) {
		why = strings.Replace(why, "could not be reached", "broke off before it answered", 1)
		why = strings.Replace(why, "try again", "look whether the call was carried out before you try again", 1)
	}
	result := failed(why)
	result.Cause = err
	return result
}

// reads reports whether a call by this method changes nothing, and may so be made again.
func reads(method string) bool { return method == http.MethodGet || method == "QUERY" }
