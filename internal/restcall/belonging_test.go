package restcall

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// servers read names of a query or a form differently; each yields a name as one of them understands it.
var servers = map[string]func(string) string{
	"exact":    func(name string) string { return name },
	"any case": strings.ToLower,
	"dots":     func(name string) string { return strings.ReplaceAll(name, ".", "[") },
	"twice": func(name string) string {
		if again, err := url.QueryUnescape(name); err == nil {
			return again
		}
		return name
	},
	"PHP": func(name string) string {
		name = strings.TrimLeft(name, " ")
		root, rest, bracket := strings.Cut(name, "[")
		root = strings.NewReplacer(".", "_", " ", "_").Replace(root)
		switch {
		case bracket && strings.Contains(rest, "]"):
			return root + "[" + rest
		case bracket:
			return root + "_" + rest
		}
		return root
	},
}

// seenAs reports whether a server that asks for one name gets the pair of another, or what replaces it.
func seenAs(server func(string) string, asked, pair string) bool {
	a, p := server(asked), server(pair)
	return a != "" && p != "" && (a == p || strings.HasPrefix(p, a+"[") || strings.HasPrefix(a, p+"["))
}

func anySees(asked, pair string) bool {
	for _, server := range servers {
		if seenAs(server, asked, pair) {
			return true
		}
	}
	return false
}

var someNames = []string{
	"mode", "Mode", "m.ode", "m_ode", "m ode", " mode", "mode[x]", "mode[y]", "mode.x", "mode[", "mode[]", "m%6Fde",
	"mode%5Bx%5D",
	"filter", "FILTER", "filter[mode]", "filter[mode][]", "filter.mode", "filter_mode", "filter[", "x", "X", "y", "[", "]",
	"[x]", "a]x", "", "fixed", "Fixed", "key", "KEY[]",
}

// world is a tool with random places and the arguments of a call of it. Each text of an argument is its name.
type world struct {
	tool  toolplan.Tool
	names map[string][]string // what each argument is asked for by
	call  map[string]any
}

func (w *world) value(r *rand.Rand, arg string, depth int) any {
	switch n := r.IntN(4); {
	case n == 0 || depth > 2:
		return arg
	case n == 1:
		return []any{arg, w.value(r, arg, depth+1)}
	default:
		out := map[string]any{}
		for range 1 + r.IntN(3) {
			out[someNames[r.IntN(len(someNames))]] = w.value(r, arg, depth+1)
		}
		return out
	}
}

// newWorld returns nil if the document itself declares names that some server confuses.
func newWorld(r *rand.Rand) *world {
	w := &world{names: map[string][]string{}, call: map[string]any{}}
	call := &toolplan.Call{Template: "/a?fixed=1"}
	if kind := r.IntN(3); kind > 0 {
		call.Body = &toolplan.Body{ContentType: []string{"", "application/x-www-form-urlencoded",
			"multipart/form-data"}[kind]}
	}
	properties := map[string]json.RawMessage{}
	for i := range 2 + r.IntN(3) {
		arg, name := fmt.Sprint("arg", i), someNames[r.IntN(len(someNames))]
		if name == "" {
			continue
		}
		schema, style, explode := "{}", []string{"form", "deepObject", "pipeDelimited"}[r.IntN(3)], r.IntN(3) > 0
		w.names[arg] = []string{name}
		if property := someNames[r.IntN(len(someNames))]; style == "form" && explode && r.IntN(2) == 0 {
			schema = fmt.Sprintf(`{"properties":{%q:{}}}`, property)
			w.names[arg] = append(w.names[arg], property)
		}
		switch {
		case call.Body != nil && r.IntN(5) == 0 && call.Body.More == "":
			call.Body.More, w.names[arg] = arg, nil
		case call.Body != nil && r.IntN(2) == 0:
			call.Body.Fields = append(call.Body.Fields, toolplan.Field{Arg: arg, Name: name, Style: style, Explode: explode})
		default:
			call.Params = append(call.Params, toolplan.Param{Arg: arg, Name: name, In: "query", Style: style, Explode: explode})
		}
		properties[arg] = json.RawMessage(schema)
		w.call[arg] = w.value(r, arg, 0)
	}
	for a, as := range w.names {
		for b, bs := range w.names {
			if a != b && slices.ContainsFunc(as,
				func(x string) bool { return slices.ContainsFunc(bs, func(y string) bool { return anySees(x, y) }) }) {
				return nil
			}
		}
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": properties})
	w.tool = toolplan.Tool{Name: "op", Method: "post", InputSchema: schema, Call: call}
	return w
}

// pairs are the names and texts that a request sends in its query and its form.
func pairs(t *testing.T, r *Request) (out [][2]string) {
	add := func(text string) {
		for pair := range strings.SplitSeq(text, "&") {
			name, value, _ := strings.Cut(pair, "=")
			plainName, err := url.QueryUnescape(name)
			plainValue, err2 := url.QueryUnescape(value)
			if err != nil || err2 != nil {
				t.Fatalf("the pair %q cannot be read", pair)
			}
			out = append(out, [2]string{plainName, plainValue})
		}
	}
	add(r.url.RawQuery)
	media, params, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	if media != "multipart/form-data" {
		add(string(r.body))
		return out
	}
	for in := multipart.NewReader(strings.NewReader(string(r.body)), params["boundary"]); ; {
		part, err := in.NextPart()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(part)
		out = append(out, [2]string{part.FormName(), string(text)})
	}
}

// checkBelonging calls a random tool and looks whom each pair that is sent belongs to, for every server. It
// reports whether the call was sent.
func checkBelonging(t *testing.T, seed uint64) bool {
	w := newWorld(rand.New(rand.NewPCG(seed, 0)))
	if w == nil {
		return false
	}
	arguments, _ := json.Marshal(w.call)
	p, err := Compile(w.tool)
	if err != nil {
		return false // one argument of a body that has no place there
	}
	to := Upstream{BaseURL: "https://a", AuthType: "api_key", AuthIn: "query", AuthName: "key",
		Secret: storage.NewSecret("SECRET")}
	r, err := p.Build(to, arguments)
	if err != nil {
		return false
	}
	plan, _ := json.Marshal(w.tool.Call)
	w.names["fixed"], w.names["key"] = []string{"fixed"}, []string{"key"}
	sent := pairs(t, r)
	for _, pair := range sent {
		for arg, names := range w.names {
			declared := slices.Contains(w.names[textOwner(pair[1])], pair[0]) // by the document, beside what the operator fixes
			if textOwner(pair[1]) == "" || textOwner(pair[1]) == arg || declared && (arg == "fixed" || arg == "key") {
				continue
			}
			for server, reads := range servers {
				for _, name := range names {
					if seenAs(reads, name, pair[0]) {
						t.Errorf("seed %d: %s of %s sends %q, which %s reads as %q of %q", seed, arguments, plan, pair, server, name, arg)
					}
				}
			}
		}
	}
	return true
}

// textOwner returns the argument that a text is of, "" for one of the upstream.
func textOwner(text string) string {
	if i := strings.Index(text, "arg"); i >= 0 {
		return text[i : i+len("arg0")]
	}
	return ""
}

func TestPairThatIsSentBelongsToItsArgument(t *testing.T) {
	sent := 0
	for seed := range uint64(10_000) {
		if checkBelonging(t, seed) {
			sent++
		}
		if t.Failed() {
			return
		}
	}
	if sent < 200 {
		t.Errorf("%d calls were sent, too few to show anything", sent)
	}
}

func FuzzNames(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkBelonging(t, seed) })
}
