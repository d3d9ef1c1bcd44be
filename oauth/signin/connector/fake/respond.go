package fake

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// object is a JSON object.
type object map[string]any

// encode writes JSON as PHP does: slashes escaped, everything else as it is, and the control character in a name as
// wx sends it.
func encode(o object) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.Encode(o) // of texts and numbers
	return strings.NewReplacer("/", `\/`, `\u0014`, "\x14").Replace(strings.TrimSpace(out.String()))
}

func respond(w http.ResponseWriter, kind, body string) error {
	return respondWith(w, http.StatusOK, kind, body)
}

func respondWith(w http.ResponseWriter, status int, kind, body string) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, err := io.WriteString(w, body)
	return err
}

// authenticates compares an application's credentials with ours.
func (f *Fake) authenticates(q url.Values, idParam, id, secretParam string) bool {
	return q.Get(idParam) == id && f.secret.Equal(q.Get(secretParam))
}

// fill adds the values that are not empty.
func (o object) fill(values object) object {
	for name, v := range values {
		if v != "" {
			o[name] = v
		}
	}
	return o
}

// unionID returns the unionid, "" until there is one.
func (g grant) unionID() string {
	if !g.union {
		return ""
	}
	return g.user.unionID(g.provider)
}

func (g grant) openID() string { return g.user.openID(g.provider) }

func (f *Fake) faceOf(p testUser) string { return f.base + f.path + "/face/" + p.Key + ".svg" }
