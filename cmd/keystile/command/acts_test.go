package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/usage"
	acting "github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/audit"
	queues "github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// act is an act of administration, and how each front is asked for it. In its texts {name} stands for what the scene
// holds by that name: see newScene.
type act struct {
	name    string
	before  func(*scene) // makes what the act is done to, beside what every scene has; nil: nothing
	console string       // method, path and body in JSON; an administrator sends it. "": there is no such front
	command string       // the words, with single spaces; it runs where a server answers, and where none does
	served  bool         // the command needs a server
	api     string       // as console, below /api/v1; the owner of the application sends it
	silent  bool         // nobody is to be told by mail
	service bool         // it is about no user: its records are of the user who acts
	late    bool         // the mail may come after its address is gone, and is left open
}

// acts are those of each subject.
var acts = slices.Concat(userActs, groupActs, appActs, toolActs, serviceActs)

// An act is one function, whichever front it comes through: what it writes on the audit trail is the same but for the
// actor, and so is what is told by mail and by webhooks.
func TestActOfAdministrationIsTheSameThroughEachFront(t *testing.T) {
	for _, a := range acts {
		t.Run(strings.ReplaceAll(a.name, " ", "-"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { a.compare(t) })
		})
	}
}

func (a act) compare(t *testing.T) {
	w := newStage(t)
	var first consequences
	for _, f := range fronts {
		s := newScene(w)
		if a.before != nil {
			a.before(s)
		}
		by, asked := f.ask(a, s)
		if !asked {
			continue
		}
		got := s.consequences()
		by = s.named(by)
		got.wantActor(t, f.name, by)
		if len(got.records) == 0 {
			t.Errorf("through the %s nothing is on the trail", f.name)
		}
		got.strip(by, a.service)
		if a.late {
			got.mails = nil
		} else if f.closed {
			got.mails = first.mails // nobody serves, so nobody is told by mail
		} else if (len(got.mails) == 0) != a.silent {
			t.Errorf("through the %s the mails are %q", f.name, got.mails)
		}
		if first.front == "" {
			first = got
			first.front = f.name
			continue
		}
		for what, both := range map[string][2][]string{"trail": {first.records, got.records},
			"mails": {first.mails, got.mails}, "webhooks": {first.webhooks, got.webhooks}} {
			if !slices.Equal(both[0], both[1]) {
				t.Errorf("%s: through the %s\n%s\nthrough the %s\n%s", what, first.front, strings.Join(both[0], "\n"), f.name,
					strings.Join(both[1], "\n"))
			}
		}
	}
	if first.front == "" {
		t.Error("no front has this act")
	}
}

// front is a way in which an act is asked for. ask returns who has asked, as the trail names them, or false if the act
// has no such front.
type front struct {
	name   string
	closed bool
	ask    func(a act, s *scene) (by string, asked bool)
}

var fronts = []front{
	{name: "console", ask: func(a act, s *scene) (string, bool) {
		root := s.somebody("root", storage.RoleAdmin, justNow)
		return root.Sub, a.console != "" && s.asks(a.console, http.Header{"Cookie": {"open_sso_token=" + root.cookie}})
	}},
	{name: "API", ask: func(a act, s *scene) (string, bool) {
		if a.api == "" {
			return "", false
		}
		token := s.grant(s.ada, s.app(""), "openid apps", "")
		s.begin()
		return s.ada.Sub, s.asks(a.api, http.Header{"Authorization": {"Bearer " + token}})
	}},
	{name: "command line at a server", ask: func(a act, s *scene) (string, bool) {
		return acting.CommandLine().Operator, a.command != "" && s.types(a.command, true)
	}},
	{name: "command line without a server", closed: true, ask: func(a act, s *scene) (string, bool) {
		return acting.CommandLine().Operator, a.command != "" && !a.served && s.types(a.command, false)
	}},
}

// stage is a service whose user events go to a webhook.
type stage struct {
	*world
	mails string // the folder of the mails that were sent
}

func newStage(t *testing.T) *stage {
	w := newWorld(t)
	w.mailed = true
	var err error
	w.data.billing, err = billing.New(billing.Config{Store: w.store})
	fatal(t, err)
	w.data.usage, err = usage.New(usage.Config{Store: w.store, Billing: w.data.billing})
	fatal(t, err)
	_, err = w.store.SetUserWebhook(t.Context(), "http://127.0.0.1:1/users", false)
	fatal(t, err)
	return &stage{w, w.data.Mail()}
}

// scene holds the things that one front does an act to: a user with an application of theirs.
type scene struct {
	*stage
	ada   human
	names [][2]string // what stands in the texts of an act, and for what

	last uint64            // of the trail, before the act
	sent map[string]string // mails, before it
	hook int               // webhooks, before it
}

// newScene has {sub} and {username} of a user, {email} of theirs, and {client_id} and {app} of their application.
func newScene(w *stage) *scene {
	s := &scene{stage: w, ada: w.somebody("ada", "", justNow)}
	app := w.app(s.ada.Sub)
	s.set("sub", s.ada.Sub, "username", s.ada.Username, "email", s.ada.Email, "client_id", app.ID, "app", app.Name)
	return s
}

// set gives things their names.
func (s *scene) set(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		s.names = append(s.names, [2]string{"{" + pairs[i] + "}", pairs[i+1]})
	}
}

// begin begins to look at what follows.
func (s *scene) begin() {
	s.Helper()
	var err error
	synctest.Wait()
	s.last, err = audit.Last(s.Context(), s.store)
	fatal(s, err)
	s.sent, s.hook = s.mailed(), len(s.hooked())
}

// filled puts the names' things into a text.
func (s *scene) filled(text string) string {
	for _, n := range s.names {
		text = strings.ReplaceAll(text, n[0], n[1])
	}
	return text
}

// drawn are texts that differ each time.
var drawn = []struct {
	name string
	like *regexp.Regexp
}{
	{"{time}", regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)},
	{"{hash}", regexp.MustCompile(`\b([0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{12})\b`)},
	{"{a client_id}", regexp.MustCompile(`\bks[a-z0-9]{20,}\b`)},
	{"{a sub}", regexp.MustCompile(`\bu[a-z2-7]{26}\b`)},
	{"active {a kid}", regexp.MustCompile(`active [\w-]{43} -> [\w-]{43}`)},
}

// named is the inverse of filled. Texts that are drawn come first, because a hash may have the letters of a name, then
// the longest: a name may be in an address.
func (s *scene) named(text string) string {
	longest := slices.SortedFunc(slices.Values(s.names), func(x,
		y [2]string) int {
		return cmp.Compare(len(y[1]), len(x[1]))
	})
	text = drawn[1].like.ReplaceAllString(text, drawn[1].name)
	for _, n := range longest {
		text = strings.ReplaceAll(text, n[1], n[0])
	}
	for _, d := range drawn {
		text = d.like.ReplaceAllString(text, d.name)
	}
	return text
}

// asks sends a request.
func (s *scene) asks(text string, header http.Header) bool {
	s.Helper()
	method, rest, _ := strings.Cut(s.filled(text), " ")
	path, body, _ := strings.Cut(rest, " ")
	if s.last == 0 {
		s.begin()
	}
	_, out := s.send(method, path, body, header)
	if out.Code != http.StatusOK {
		s.Fatalf("%s %s %s = %d %s", method, path, body, out.Code, out.Body)
	}
	return true
}

// types runs a command, where a server answers or where none does.
func (s *scene) types(text string, served bool) bool {
	s.Helper()
	s.begin()
	var words []string
	for word := range strings.SplitSeq(text, " ") {
		words = append(words, s.filled(word))
	}
	data := s.TempDir()
	if served {
		defer s.serve(data)()
	}
	open := func(context.Context, *config.Config, *folder.Folder) (admin.Target, io.Closer, error) {
		target := s.data.target(nil)
		var err error
		target.Registry, err = s.data.registrar()
		return target, io.NopCloser(nil), err
	}
	if served {
		open = nil
	}
	table := cli.Table{Program: "keystile",
		Commands: admin.Commands(admin.Opener{Open: open, Kind: program{storage: Bolt()}.kind})}
	var out, errs bytes.Buffer
	end := len(words)
	if i := slices.Index(words, "--"); i >= 0 {
		end = i
	}
	if code := table.Main(s.Context(), slices.Insert(words, end, "--data", data),
		cli.Call{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}); code != 0 {
		s.Fatalf("keystile %q = %d %s", words, code, errs.String())
	}
	return true
}

// serve answers at the socket of a data folder until end is called.
func (s *scene) serve(data string) (end func()) {
	f, err := folder.Open(data)
	fatal(s, err)
	l, err := f.Listen(s.Context())
	fatal(s, err)
	server := &http.Server{Handler: admin.Handler(s.data.target(s.b), slog.New(slog.DiscardHandler))}
	ended := make(chan struct{})
	go func() { defer close(ended); server.Serve(l) }()
	return func() { server.Close(); <-ended }
}

// consequences holds the traces of an act, in the words of the scene.
type consequences struct {
	front                    string
	records, mails, webhooks []string
}

func (s *scene) consequences() (c consequences) {
	s.Helper()
	synctest.Wait()
	for after := s.last; ; {
		page, err := s.store.Records(s.Context(), after, 100)
		fatal(s, err)
		for _, r := range page {
			e, err := audit.Decode(r)
			fatal(s, err)
			if after = r.Seq; e.Kind == event.Admin {
				c.records = append(c.records, s.named(fmt.Sprintf("user=%s app=%s %s", e.User, e.App, e.Detail)))
			}
		}
		if len(page) == 0 {
			break
		}
	}
	for file, text := range s.mailed() {
		if s.sent[file] == "" {
			c.mails = append(c.mails, s.named(text))
		}
	}
	slices.Sort(c.mails)
	for _, h := range s.hooked()[s.hook:] {
		c.webhooks = append(c.webhooks, s.named(h))
	}
	return c
}

// wantActor holds that each record says who has acted.
func (c *consequences) wantActor(t *testing.T, front, by string) {
	t.Helper()
	for _, r := range c.records {
		if !strings.Contains(r, " by "+by) {
			t.Errorf("through the %s the record %q does not name its actor, %s", front, r, by)
		}
	}
}

// byWhom finds the actor in a mail.
var byWhom = regexp.MustCompile(`by (the operator|an administrator): `)

// strip takes out by whom it was done, and whose records they are if they are the actor's.
func (c *consequences) strip(by string, own bool) {
	for i, r := range c.records {
		if own {
			_, r, _ = strings.Cut(r, " app=")
		}
		c.records[i] = strings.ReplaceAll(r, " by "+by, "")
	}
	for i, m := range c.mails {
		c.mails[i] = byWhom.ReplaceAllString(m, "")
	}
}

// mailed returns the mails that were sent, by their files: to whom, and what they say in front of when and where.
func (s *stage) mailed() map[string]string {
	s.Helper()
	all := map[string]string{}
	files, err := filepath.Glob(filepath.Join(s.mails, "*"))
	fatal(s, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		fatal(s, err)
		_, to, _ := strings.Cut(string(text), "\nTo: ")
		to, what, _ := strings.Cut("\n"+to, "\n\n")
		what, _, _ = strings.Cut(what, "\nWhen: ")
		to, _, _ = strings.Cut(strings.TrimSpace(to), "\n")
		all[name] = to + ": " + strings.ReplaceAll(what, "\n", " ")
	}
	return all
}

// hooked are the events that wait for their webhooks.
func (s *scene) hooked() (all []string) {
	s.Helper()
	for _, queue := range []string{queues.Users, queues.App(s.filled("{client_id}"))} {
		waiting, err := s.store.Deliveries(s.Context(), queue)
		fatal(s, err)
		for _, d := range waiting {
			var sent struct {
				Data json.RawMessage `json:"data"`
			}
			json.Unmarshal(d.Payload, &sent) // a logout token is no JSON
			all = append(all, d.Event+" "+string(sent.Data))
		}
	}
	return all
}
