package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/registry/internal/fields"
	"github.com/keystile/keystile/registry/pins"
)

// pinsView holds what waits of a capability.
type pinsView struct {
	Member string `json:"member"`
	Pins   string `json:"pins"` // on or off; "": the capability does not list its tools by itself
	pins.View
	At *time.Time `json:"held_at"` // null: nothing waits
}

func newPinsView(h pins.View) pinsView {
	v := pinsView{Member: h.Capability.Member, Pins: h.Capability.Pins(), View: h}
	if at := h.At.UTC().Truncate(time.Second); h.Digest != "" {
		v.At = &at
	}
	return v
}

// acceptedView holds what was accepted, and what waits still.
type acceptedView struct {
	pinsView
	Accepted []string `json:"accepted"`
}

// pinsOfOne is GET and POST /api/console/capabilities/{member}/pins: what waits until it is accepted, and accepting it.
func (g *Registry) pinsOfOne(w http.ResponseWriter, r *http.Request) error {
	var checks []consoleauth.Check
	if r.Method == http.MethodPost {
		checks = append(checks, admin.Actor.Developer, admin.Actor.Fresh)
	}
	actor, err := g.access.Actor(r, checks...)
	if err != nil {
		return err
	}
	leave, err := g.showing.Take(r.Context(), actor.Sub)
	if err != nil {
		return err
	}
	defer leave()
	member := r.PathValue("member")
	if r.Method != http.MethodPost {
		h, err := g.ShowPins(actor.In(r.Context()), actor.User, member)
		if err != nil {
			return err
		}
		return reply.Success(w, newPinsView(h))
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAcceptance))
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return writeRejection(w, limitf("the request has more than %d bytes", maxAcceptance))
	}
	if err != nil {
		return writeRejection(w, badField("the body ended too early: send it again"))
	}
	names, digest, err := readAccept(text)
	if err != nil {
		return writeRejection(w, err)
	}
	done, err := g.AcceptPins(actor.In(r.Context()), actor.User, member, names, digest)
	if err != nil {
		return writeRejection(w, err)
	}
	return reply.Success(w, acceptedView{newPinsView(done), nonNil(done.Accepted)})
}

// maxAcceptance bounds the body of an acceptance.
const maxAcceptance = 1 << 20

// readAccept reads {"accept": [names] or "all", "digest": what was shown}.
func readAccept(text []byte) (names []string, digest string, err error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	sent, err := fields.Unique(text, `: send {"accept":"all"}, or the names of tools`)
	if err != nil {
		return nil, "", err
	}
	for name := range sent {
		if name != "accept" && name != "digest" {
			return nil, "", badField("there is no field " + name[:min(len(name), 40)] +
				": send accept, and digest if you like")
		}
	}
	if raw := sent["digest"]; raw != nil && string(raw) != "null" {
		var ok bool
		if digest, ok = fields.Text(raw); !ok || digest == "" {
			return nil, "", badField("digest must be the one that was shown")
		}
	}
	if names, err = namesOf(sent["accept"]); err != nil {
		return nil, "", err
	}
	return names, digest, nil
}

// namesOf reads which tools are accepted; nil: all.
func namesOf(raw json.RawMessage) (names []string, err error) {
	if string(raw) == `"all"` {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &names); err != nil || len(names) == 0 || slices.Contains(names, "") {
		return nil, badField(`accept must be "all", or a list of the names of tools that are held`)
	}
	return names, nil
}
