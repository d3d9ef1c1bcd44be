package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// tried holds what the page of a tool shows.
type tried struct {
	Member string
	Tool   toolLine
	Fields []field
	Schema node
	OnBus  bool
	Answer *answer
}

// answer holds what a call has brought.
type answer struct {
	IsError  bool
	Millis   int64
	Request  string // as it was sent to the bus; no credential is part of it
	Raw      string
	Cut      bool
	Bytes    int
	Texts    []string
	Links    []string
	Hidden   int // blocks that are only in Raw
	Value    *node
	NotShown bool
}

func (t *Tools) toolOf(r *http.Request, who admin.Actor) (storage.Capability, toolplan.Tool, error) {
	c, tools, err := t.read(r, who)
	if err != nil {
		return c, toolplan.Tool{}, err
	}
	for _, tool := range tools {
		if tool.Name == r.PathValue("tool") {
			return c, tool, nil
		}
	}
	return c, toolplan.Tool{}, noTool
}

func recordOf(c storage.Capability, tool toolplan.Tool) tried {
	lines, _ := toolLines([]toolplan.Tool{tool}, "")
	lines[0].Description = ui.Shown(tool.Description, 2000)
	room := newRoom()
	return tried{Member: c.Member, Tool: lines[0], Fields: fieldsOf(tool.InputSchema),
		Schema: schemaNode("", tool.InputSchema, false, 0, room), OnBus: c.Publish}
}

func (t *Tools) showTool(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	c, tool, err := t.toolOf(r, who)
	if err != nil {
		return nil, err
	}
	return recordOf(c, tool), nil
}

// call calls a tool as an API key of the person would, by the application of the console.
func (t *Tools) call(r *http.Request, who admin.Actor, c storage.Capability, tool toolplan.Tool,
	arguments json.RawMessage) (json.RawMessage, error) {
	if !c.Publish {
		return nil, notOnBus
	}
	caller := storage.Caller{AppID: storage.ConsoleAppID, UserID: who.Sub, Scope: "tools", Audience: t.c.BaseURL}
	return t.c.Bus.CallFor(r, caller, c.Member+"__"+tool.Name, arguments)
}

// callJSON serves POST /api/console/tools/{member}/{tool}/call. The result is that of tools/call.
func (t *Tools) callJSON(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := adminapi.ReadFields(w, r, "arguments")
	if err != nil {
		return nil, err
	}
	c, tool, err := t.toolOf(r, who)
	if err != nil {
		return nil, err
	}
	return t.call(r, who, c, tool, f["arguments"])
}

// callForm calls a tool with what was typed into its form.
func (t *Tools) callForm(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	c, tool, err := t.toolOf(r, who)
	if err != nil {
		return nil, err
	}
	record := recordOf(c, tool)
	arguments, err := argumentsOf(record.Fields, r.PostForm)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	result, err := t.call(r, who, c, tool, arguments)
	if err != nil {
		return nil, err
	}
	fill(record.Fields, r.PostForm)
	record.Answer = answerOf(result, time.Since(start))
	request, _ := json.Marshal(map[string]any{ // of valid JSON
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": c.Member + "__" + tool.Name,
			"arguments": arguments},
	})
	record.Answer.Request, _ = indented(request, 4<<10)
	return record, nil
}

// maxRaw bounds what is shown of an answer, in bytes of markup.
const maxRaw = 24 << 10

// indented lays JSON out, cut where its markup would be too long.
func indented(raw []byte, most int) (string, bool) {
	var out bytes.Buffer
	if len(raw) > 1<<20 {
		raw = raw[:1<<20]
	}
	if json.Indent(&out, raw, "", "  ") != nil {
		out.Reset()
		out.Write(raw)
	}
	return cutMarkup(out.String(), most)
}

// spelled writes characters that turn the direction of a text as JSON escapes them, so that what is read
// is in the order in which it came.
func spelled(text string) string {
	if !strings.ContainsFunc(text, turns) {
		return text
	}
	var out strings.Builder
	for _, c := range text {
		if turns(c) {
			fmt.Fprintf(&out, `\u%04x`, c)
		} else {
			out.WriteRune(c)
		}
	}
	return out.String()
}

func turns(c rune) bool { return unicode.Is(unicode.Bidi_Control, c) }

// cutMarkup cuts a text whose markup would have more bytes: a quote takes five in it.
func cutMarkup(text string, most int) (string, bool) {
	text = spelled(text)
	for i, c := range text {
		switch c {
		case '"', '\'', '<', '>', '&', '+':
			most -= 5
		default:
			most -= len(string(c))
		}
		if most < 0 {
			return text[:i], true
		}
	}
	return text, false
}

// answerOf reads a result of tools/call. Nothing in it is to be trusted.
func answerOf(raw json.RawMessage, took time.Duration) *answer {
	a := &answer{Millis: took.Milliseconds(), Bytes: len(raw)}
	a.Raw, a.Cut = indented(raw, maxRaw)
	room := newRoom()
	for name, value := range rawjson.Members(rawjson.Trim(raw)) {
		switch string(name) {
		case "isError":
			a.IsError = string(value) == "true"
		case "content":
			for block := range rawjson.Elements(value) {
				a.block(block, room)
			}
		case "structuredContent":
			n := valueNode("", value, 0, room)
			a.Value = &n
		}
	}
	return a
}

// block reads a block of content: a text, or a link as text. Others are in the raw answer.
func (a *answer) block(raw json.RawMessage, room *room) {
	var b struct{ Type, Text, URI, Name string }
	if json.Unmarshal(raw, &b) != nil || room.bytes <= 0 {
		a.Hidden++
		return
	}
	switch b.Type {
	case "text":
		text, cut := cutMarkup(b.Text, min(room.bytes, 8<<10))
		room.bytes -= len(text)
		a.NotShown = a.NotShown || cut
		a.Texts = append(a.Texts, text)
	case "resource_link":
		a.Links = append(a.Links, room.text(b.Name+" "+b.URI))
	default:
		a.Hidden++
	}
}
