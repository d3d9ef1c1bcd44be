package gateway

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/internal/cors"
	"github.com/keystile/keystile/internal/reqctx"
)

// received removes the headers that a service must not set: our cookies, what browsers keep for the whole host, the
// request's id and, where the gateway has set them, CORS and HSTS.
func received(res *http.Response) error {
	if res.StatusCode == http.StatusSwitchingProtocols {
		return errUnrequested
	}
	removeForbidden(res)
	return nil
}

func removeForbidden(res *http.Response) {
	ours := entryOf(res.Request).answer.gatewayHeaders()
	not := forbiddenHeaders{origins: cors.Spoke(ours), transport: ours[headerHSTS] != nil}
	not.remove(res.Header)
	not.remove(res.Trailer) // their names only, until the body has been read
	if res.ContentLength < 0 && res.StatusCode != http.StatusSwitchingProtocols {
		res.Body = &trailerBody{res.Body, res, not}
	}
}

// forbiddenHeaders reports whether a service must not set this header or trailer.
//
// Trailers of an answer pass, because gRPC needs them, without those that a service must not set as headers. A
// handler behind Guard is the host's own code: its cookies and answers pass as they are.
type forbiddenHeaders struct {
	origins   bool // the gateway has said which pages may read it
	transport bool // and how the host is reached
}

func (f forbiddenHeaders) remove(h http.Header) {
	delete(h, reqctx.Header)
	dropHostWide(h)
	if f.transport {
		delete(h, headerHSTS)
	}
	if !f.origins {
		return
	}
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			delete(h, name)
		}
	}
}

// hostWide are headers by which one answer decides for the whole host, of which a service has a part: what
// browsers delete of it, to whom they report its requests, where else it is found, which scripts intercept its
// pages, and who is signed in.
var hostWide = []string{"Clear-Site-Data", "Nel", "Report-To", "Alt-Svc", "Service-Worker-Allowed", "Set-Login",
	"Accept-Ch",
	"Secure-Session-Registration", "Sec-Session-Registration"}

// dropHostWide removes them, and our cookies.
func dropHostWide(h http.Header) {
	for _, name := range hostWide {
		delete(h, name)
	}
	if lines := slices.DeleteFunc(h["Set-Cookie"], cookies.Ours); len(lines) > 0 {
		h["Set-Cookie"] = lines
	} else {
		delete(h, "Set-Cookie")
	}
}

// trailerBody is the body of an answer that trailers may stand behind. They are known when it
// is closed, whether they were announced or not; the proxy reads them after that.
type trailerBody struct {
	io.ReadCloser
	answer *http.Response
	not    forbiddenHeaders
}

func (t *trailerBody) Close() error {
	err := t.ReadCloser.Close()
	t.not.remove(t.answer.Trailer)
	return err
}
