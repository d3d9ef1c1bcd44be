package trail

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/event"
)

const root = "../../../../"

// kindsOfTheProduct are the constants of the first block of package event, which declares the kinds.
func kindsOfTheProduct(t *testing.T) (all []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), root+"storage/event/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			text, err := strconv.Unquote(s.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return all
	}
	return nil
}

func TestEachKindOfEventHasAnOutcomeInBothLanguages(t *testing.T) {
	all := append(kindsOfTheProduct(t), "audit.begin", "audit.end", "audit.lost", "audit.others")
	if len(all) != len(kinds) {
		t.Errorf("there are %d kinds, and %d that are shown", len(all), len(kinds))
	}
	for _, kind := range all {
		title := record{Kind: kind}.Title()
		if title == kind || texts[title] == "" {
			t.Errorf("kind %s is called %q, in Chinese %q", kind, title, texts[title])
		}
		for _, status := range []int{0, 101, 200, 303, 400, 401, 403, 404, 409, 413, 429, 499, 500, 502, 503} {
			for _, user := range []string{"", "u1"} {
				is := record{Kind: kind, Status: status, User: user}.Outcome()
				bad := is.Class == "bad" || is.Class == "warn"
				if texts[is.Text] == "" || is == done && kind != event.Consent && kind != event.Registration &&
					kind != event.Client && kind != event.Admin || bad != (status >= 400) && kind != event.Limit &&
					kind != "audit.lost" {
					t.Errorf("kind %s with status %d is %+v, in Chinese %q", kind, status, is, texts[is.Text])
				}
			}
		}
	}
	for kind, some := range endings {
		for _, one := range some {
			if texts[one.Text] == "" {
				t.Errorf("%s %q is %q, which has no translation", kind, one.begins, one.Text)
			}
		}
	}
	for _, one := range wrong {
		if texts[one.why] == "" {
			t.Errorf("%q has no translation", one.why)
		}
	}
}

var noted = regexp.MustCompile(`(Kind: event\.Registration, )?(?:What: |\(ctx, by, )"([a-z][a-z -]+)"`)

// The acts are read where they are written down, so that one that is new is not called "done".
func TestEachActOfAnAdministratorHasAnOutcomeOfItsOwn(t *testing.T) {
	found := 0
	for _, in := range []string{"internal/admin", "cmd/keystile/internal/admin", "gateway/console/internal/trail"} {
		err := fs.WalkDir(os.DirFS(root+in), ".", func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(root + in + "/" + path)
			for _, m := range noted.FindAllStringSubmatch(string(text), -1) {
				found++
				kind := event.Admin
				if m[1] != "" {
					kind = event.Registration
				}
				if is := (record{Kind: kind, Detail: m[2] + " x by u1"}).Outcome(); is == done {
					t.Errorf("%s: an act %q has no outcome of its own", path, m[2])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 25 {
		t.Errorf("only %d acts were found", found)
	}
}

func TestOutcomeSaysWhatHasComeOfIt(t *testing.T) {
	for want, r := range map[string]record{
		"signed in":                    {Kind: event.SignIn, Status: 303, User: "u1"},
		"refused: wrong password":      {Kind: event.SignIn, Status: 401, User: "u1", Path: "/oauth/signin"},
		"refused: no such user":        {Kind: event.SignIn, Status: 401, Path: "/oauth/signin"},
		"refused: wrong second factor": {Kind: event.SignIn, Status: 401, User: "u1", Path: "/oauth/signin/factor"},
		"refused: wrong passkey":       {Kind: event.SignIn, Status: 401, Path: "/oauth/signin/passkey"},
		"refused: too many attempts":   {Kind: event.SignIn, Status: 429, Path: "/oauth/signin/factor"},
		"issued":                       {Kind: event.Token, Status: 200, Detail: "refresh_token"},
		"claims left out":              {Kind: event.Token, Status: 200, Detail: event.DetailClaims + "userinfo: all"},
		"issued without PKCE":          {Kind: event.Token, Status: 200, Detail: event.DetailNoPKCE},
		"refused: wrong secret":        {Kind: event.Token, Status: 401},
		"refused: too many":            {Kind: event.Call, Status: 429},
		"repeated, not charged":        {Kind: event.Call, Status: 200, Detail: event.DetailRepeated},
		"the caller has gone":          {Kind: event.ToolCall, Status: 499, Detail: "shop__order"},
		"failed: no answer":            {Kind: event.ToolCall, Status: 502},
		"denied":                       {Kind: event.Consent, Status: 303, Detail: "denied a device at 192.0.2.1"},
		"allowed":                      {Kind: event.Consent, Status: 303, Detail: "allowed openid"},
		"admitted":                     {Kind: event.Client, Status: 200, Detail: "document admitted"},
		"signed up":                    {Kind: event.Registration, Status: 303, Detail: "signed up by WeChat"},
		"held back":                    {Kind: event.Registration, Status: 200, Detail: "hold shop abc: 2 changed"},
		"let through":                  {Kind: event.Limit, Detail: event.DetailShadow + "free"},
		"dropped":                      {Kind: event.Admin, Detail: "3 logouts were dropped: the queue was full"},
		"removed":                      {Kind: event.Admin, Detail: "audit prune by the service: 4 records"},
		"lost":                         {Kind: "audit.lost", Count: 7},
		"answered":                     {Kind: event.Legacy, Status: 200, Detail: "login plain"},
		"failed":                       {Kind: "of a later version", Status: 500},
		"done":                         {Kind: "of a later version", Status: 200},
		"changed":                      {Kind: event.Account, Status: 303, Detail: "password: sha256:a -> sha256:b"},
		"ended":                        {Kind: event.Account, Status: 303, Detail: "session ended"},
		"rejected":                     {Kind: event.Admin, Detail: "order reject o1 free ks1 by u2"},
		"registered":                   {Kind: event.Registration, Detail: "capability register shop by u1"},
		"refused: no such invitation":  {Kind: event.SignIn, Status: 401, Path: "/oauth/signin/signup"},
		"refused: not allowed":         {Kind: event.SignIn, Status: 403, Path: "/oauth/signin"},
		"refused by the phone":         {Kind: event.SignIn, Status: 403, Path: "/oauth/signin/qr/collect"},
		"refused":                      {Kind: event.Registration, Status: 400, Detail: "client registered itself"},
		"answered with an error":       {Kind: event.ToolCall, Status: 404},
		"refused by the provider":      {Kind: event.SignIn, Status: 401, Path: "/oauth/signin/with/wx/return"},
		"suspicious":                   {Kind: event.Account, Status: 303, Detail: "passkey counter has not risen: x"},
		"asked for":                    {Kind: event.Account, Detail: "asks for the account to be deleted"},
		"refused: no valid token":      {Kind: event.Call, Status: 401},
		"summed up":                    {Kind: "audit.others"},
	} {
		if got := r.Outcome().Text; got != want {
			t.Errorf("%+v is %q, want %q", r, got, want)
		}
	}
}

func TestActorOfEveryActIsKnown(t *testing.T) {
	for _, c := range []struct {
		r                 record
		by, about, detail string
		operator          bool
	}{
		{record{Kind: event.Admin, User: "u1", Detail: "user set u1 by command line, uid 0, host: role none -> admin"},
			"command line, uid 0, host", "u1", "user set u1: role none -> admin", true},
		{record{Kind: event.Admin, User: "u1", Detail: "user set u1 by u2, continued: name a -> b by c"}, "u2", "u1",
			"user set u1, continued: name a -> b by c", false},
		{record{Kind: event.Admin, User: "u2", Detail: "user sign out u2 by u2"}, "u2", "", "user sign out u2", false},
		{record{Kind: event.Registration, User: "u1", Detail: "capability register shop by ks1: none -> 3 tools"}, "ks1",
			"u1", "capability register shop: none -> 3 tools", false},
		{record{Kind: event.Admin, Detail: "audit prune by the service: 4"}, "the service", "", "audit prune: 4", true},
		{record{Kind: event.Admin, Detail: "3 user events were dropped: their queue was full"}, "", "",
			"3 user events were dropped: their queue was full", false},
		{record{Kind: event.Consent, User: "u1", App: "ks1", Detail: "allowed by mistake"}, "u1", "",
			"allowed by mistake", false},
		{record{Kind: event.Call, App: "ks1"}, "", "", "", false},
		{record{Kind: event.SignIn, User: "u1", Status: 401}, "u1", "", "", false},
	} {
		by, about, detail, operator := c.r.Actor(), c.r.About(), c.r.Says(), c.r.Operator()
		if by != c.by || about != c.about || detail != c.detail || operator != c.operator {
			t.Errorf("%+v is by %q, about %q, says %q, by an operator %v", c.r, by, about, detail, operator)
		}
	}
}
