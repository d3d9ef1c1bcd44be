package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
)

// Bounds of what a page of held tools shows; the rest follows when these are accepted.
const (
	maxHeldShown = 50
	maxHeldText  = 8000     // runes of one text
	maxHeldPage  = 24 << 10 // bytes of all texts
)

// held holds what an upstream has changed, as the registry shows it.
type held struct {
	Member string     `json:"member"`
	Pins   string     `json:"pins"`
	Tools  []heldTool `json:"held"`
	Gone   []string   `json:"gone"`
	More   int        `json:"more"`
	Digest string     `json:"digest"`
	At     string     `json:"held_at"`
	All    bool       `json:"-"` // all that is held stands on the page, uncut
}

type heldTool struct {
	Name    string       `json:"name"`
	New     bool         `json:"new"`
	Changes []heldChange `json:"changes"`
	Cut     int          `json:"-"` // differences that the page has no room for, or for a part of them alone
}

type heldChange struct {
	At     string `json:"at"`
	Before string `json:"before"`
	After  string `json:"after"`
	Note   string `json:"note"`
}

// pins shows the changes of an upstream to users who may accept them.
func (t *Tools) pins(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	text, err := t.c.Registry.PinsBody(who.In(r.Context()), who.User, r.PathValue("member"))
	if no := (*reply.Failure)(nil); errors.As(err, &no) && no.Status == http.StatusForbidden {
		err = noCapability // a user of this page who may not change it may not see it either
	}
	if err != nil {
		return nil, err
	}
	var h held
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("console: what is held of %q: %w", r.PathValue("member"), err)
	}
	return h.cut(), nil
}

// cut drops what the page has no room for, and what cannot be seen in texts.
func (h held) cut() held {
	room := maxHeldPage
	h.All = h.More == 0
	for i := range h.Tools {
		if i == maxHeldShown || i > 0 && room < 0 {
			h.More += len(h.Tools) - i
			h.Tools, h.All = h.Tools[:i], false
			break
		}
		tool := &h.Tools[i]
		for j, c := range tool.Changes {
			if j > 0 && room < 0 {
				tool.Cut, tool.Changes, h.All = tool.Cut+len(tool.Changes)-j, tool.Changes[:j], false
				break
			}
			room -= len(c.Before) + len(c.After)
			was, wasCut := heldText(c.Before)
			is, isCut := heldText(c.After)
			if tool.Changes[j] = (heldChange{ui.Shown(c.At, 300), was, is, c.Note}); wasCut || isCut {
				tool.Cut, h.All = tool.Cut+1, false
			}
		}
	}
	return h
}

// heldText returns a text of a tool with its line breaks, and whether it was cut.
func heldText(text string) (_ string, cut bool) {
	lines, room := strings.Split(text, "\n"), maxHeldText
	for i, line := range lines {
		if room <= 0 {
			lines, cut = append(lines[:i], "…"), true
			break
		}
		lines[i] = ui.Shown(line, room)
		cut = cut || utf8.RuneCountInString(line) > room
		room -= len([]rune(lines[i])) + 1
	}
	return strings.Join(lines, "\n"), cut
}

// accept accepts the tools that were ticked.
func (t *Tools) accept(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	var names []string
	return t.accepting(w, r, who, &names)
}

// acceptAll accepts all that was shown, and forgets the tools that are gone.
func (t *Tools) acceptAll(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	return t.accepting(w, r, who, nil)
}

func (t *Tools) accepting(w http.ResponseWriter, r *http.Request, who admin.Actor, names *[]string) (any, error) {
	f, err := adminapi.ReadFields(w, r, "accept", "digest")
	if err != nil {
		return nil, err
	}
	digest, body := "", map[string]any{"accept": "all"}
	if err := f.Read("digest", "a text", &digest); err != nil {
		return nil, err
	}
	if names != nil {
		if err := f.Read("accept", "a list of names", names); err != nil {
			return nil, err
		}
		if len(*names) == 0 {
			return nil, adminapi.BadBody.Saying("no tool is ticked: tick those that you accept")
		}
		body["accept"] = *names
	}
	body["digest"] = digest
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	c, err := t.own(r, who)
	if err != nil {
		return nil, err
	}
	return nil, t.c.Registry.AcceptBody(who.In(r.Context()), who.User, c.Member, text)
}
