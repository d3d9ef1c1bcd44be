package legacy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// succeed answers what an application asked: its success code, msg, and the members of v,
// which is a struct. An application that wants them nested finds them under data as well.
func succeed(w http.ResponseWriter, app storage.App, v any) error {
	var members bytes.Buffer
	enc := json.NewEncoder(&members)
	enc.SetEscapeHTML(false) // url goes into old pages as it stands
	if err := enc.Encode(v); err != nil {
		return err
	}
	object := bytes.TrimSpace(members.Bytes())
	code := "1"
	if app.LegacySuccessCode != nil && *app.LegacySuccessCode == 0 {
		code = "0"
	}
	body := append([]byte(`{"code":`+code+`,"msg":"succ",`), object[1:len(object)-1]...)
	if app.LegacyNested {
		body = append(append(body, `,"data":`...), object...)
	}
	return reply.JSON(w, http.StatusOK, json.RawMessage(append(body, '}')))
}

// found is a 302 that no cache keeps and no page behind it hears of.
func found(w http.ResponseWriter, location string) error {
	h := w.Header()
	h.Set("Location", location)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusFound)
	return nil
}

// withQuery puts parameters (name, value, ...) behind a redirect_uri, which stays as it is.
// Those without a value are left out: an empty state would replace one that the application
// has put into its own query.
func withQuery(address string, params ...string) string {
	var to strings.Builder
	to.WriteString(address)
	glue := "?"
	switch {
	case strings.HasSuffix(address, "?"), strings.HasSuffix(address, "&"):
		glue = ""
	case strings.Contains(address, "?"):
		glue = "&"
	}
	for i := 0; i < len(params); i += 2 {
		if params[i+1] != "" {
			to.WriteString(glue + params[i] + "=" + url.QueryEscape(params[i+1]))
			glue = "&"
		}
	}
	return to.String()
}
