package firstrun

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/firstrun"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const base = "http://127.0.0.1:8080"

func TestEmptyStoreIsFilledAndThePaperSaysWithWhat(t *testing.T) {
	h := newFixture(t)
	h.dying.before = func() {
		if _, err := os.Stat(firstrun.DraftOf(h.path)); err != nil {
			t.Errorf("a record is made before the draft is there: %v", err)
		}
		if _, err := os.Stat(h.path); err == nil {
			t.Error("the paper says that it is done before it is")
		}
	}
	record := h.run(t)
	h.dying.before = nil
	if record == nil {
		t.Fatal("it is no first run")
	}
	if _, err := os.Stat(firstrun.DraftOf(h.path)); err == nil {
		t.Error("the draft is left")
	}
	h.wantComplete(t, record)
	text, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	shape := regexp.MustCompile(`^{"base_url":"http://127.0.0.1:8080","admin":{"username":"admin","password":"[0-9a-z-]{23}"},` +
		`"app":{"client_id":"ks[0-9a-z]{20}","client_secret":"[\w-]{43}","domains":\["localhost","127.0.0.1"\],"redirect_uri":"http://127.0.0.1:8080/demo/callback"}}$`)
	if !shape.Match(compact(t, text)) {
		t.Errorf("the record is %s", compact(t, text))
	}
}

func TestFirstRunIsOnce(t *testing.T) {
	h := newFixture(t)
	h.run(t)
	for _, before := range []func(){func() {}, func() { os.Remove(h.path) },
		func() { os.WriteFile(h.path, []byte("mine"), 0o600) }} {
		before()
		if record := h.run(t); record != nil {
			t.Errorf("Run() again = %v", record)
		}
	}
	if text, _ := os.ReadFile(h.path); string(text) != "mine" {
		t.Errorf("the reader's own file was overwritten: %s", text)
	}
}

// The process dies at each write, before it or right after it, and the next start finishes what the
// draft said.
func TestStartThatWasKilledIsTakenUpByTheNext(t *testing.T) {
	for _, behind := range []bool{false, true} {
		for n := 1; ; n++ {
			h := newFixture(t)
			h.dying.left, h.dying.behind = n, behind
			if _, err := Run(t.Context(), h.config()); err == nil {
				if n < 2 {
					t.Fatalf("the first run has only %d writes: the test looks at the wrong thing", n-1)
				}
				break
			}
			if h.dying.left != 0 {
				t.Fatalf("it failed before write %d", n)
			}
			if _, err := os.Stat(h.path); err == nil {
				t.Errorf("dead at write %d, it says that it is done", n)
			}
			drawn, err := firstrun.Read(firstrun.DraftOf(h.path))
			if err != nil || drawn == nil {
				t.Fatalf("dead at write %d: the draft is %v, %v", n, drawn, err)
			}
			h.dying.left = -1
			c := h.config()
			c.BaseURL = "http://127.0.0.1:9090"
			if again, err := Run(t.Context(), c); err != nil || again.Made == nil || again.Made.Admin != drawn.Admin {
				t.Fatalf("after dying at write %d: Run() = %v, %v", n, again, err)
			}
			kept, err := firstrun.Read(h.path)
			same := err == nil && kept.Admin == drawn.Admin && kept.App.ClientSecret == drawn.App.ClientSecret
			if !same || kept.BaseURL != c.BaseURL {
				t.Errorf("after dying at write %d the paper is %+v, %v; was %+v", n, kept, err, drawn)
			}
			h.wantComplete(t, kept)
		}
	}
}

func TestPaperWithoutARecordIsEnoughToStartFrom(t *testing.T) {
	h := newFixture(t)
	drawn, application := new(Record), h.config().application()
	drawn.Draw(base, &application)
	if err := drawn.Write(h.path); err != nil {
		t.Fatal(err)
	}
	if record := h.run(t); record == nil || record.Admin != drawn.Admin || record.App.ClientID != drawn.App.ClientID {
		t.Errorf("Run() = %+v; want %+v", record, drawn)
	}
	h.wantComplete(t, drawn)
}

func TestDamagedPaperStopsAFirstRunThatIsNotDone(t *testing.T) {
	h := newFixture(t)
	for _, path := range []string{firstrun.DraftOf(h.path), h.path} {
		os.WriteFile(path, []byte("{"), 0o600)
		if _, err := Run(t.Context(), h.config()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("it went on with another password than that of %s: %v", path, err)
		}
		os.Remove(path)
	}
}

func TestStoreThatCommandsHaveFilledGetsNoAdministrator(t *testing.T) {
	h := newFixture(t)
	if _, err := h.users.Create(t.Context(), storage.User{Username: "ada", Role: storage.RoleAdmin},
		"correct horse"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if record := h.run(t); record != nil {
			t.Fatalf("Run() = %v", record)
		}
	}
	apps, _, _ := h.store.Apps(t.Context(), "", "", 10)
	if users, _, _ := h.store.Users(t.Context(), "", 10); len(users) != 1 || len(apps) != 1 || apps[0].Owner != "" {
		t.Errorf("users %v, applications %v; want ada alone, and the demo of nobody's", users, apps)
	}
}

func TestPaperFollowsTheBaseURL(t *testing.T) {
	h := newFixture(t)
	first := h.run(t)
	c := h.config()
	c.BaseURL = "https://id.example.com"
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	kept, err := firstrun.Read(h.path)
	if err != nil || kept.BaseURL != c.BaseURL || kept.App.RedirectURI != "https://id.example.com/demo/callback" ||
		kept.Admin != first.Admin {
		t.Errorf("the record is %+v, %v", kept, err)
	}
	h.wantComplete(t, kept)
}

func TestDemoApplicationIsNotMadeWithoutTheDemo(t *testing.T) {
	h := newFixture(t)
	c := h.config()
	c.Demo = false
	first, err := Run(t.Context(), c)
	apps, _, _ := h.store.Apps(t.Context(), "", "", 10)
	if err != nil || first.Made.App != nil || len(apps) != 0 {
		t.Fatalf("Run() = %+v, %v; applications %v", first, err, apps)
	}
	h.run(t)
	if apps, _, _ := h.store.Apps(t.Context(), "", "", 10); len(apps) != 1 || apps[0].Owner != "" {
		t.Errorf("switched on later, the demo has %v", apps)
	}
}

// The start dies at each write, and the next one ends what it began.
func TestDemoApplicationOpensNothingWithoutTheDemo(t *testing.T) {
	for _, behind := range []bool{false, true} {
		for n := 1; n <= 4; n++ {
			h := newFixture(t)
			record := h.run(t)
			off := h.config()
			off.Demo = false
			h.dying.left, h.dying.behind = n, behind
			_, died := Run(t.Context(), off)
			if died == nil && n < 2 {
				t.Fatal("nothing was written: the test looks at the wrong thing")
			}
			h.dying.left = -1
			for range 2 {
				if _, err := Run(t.Context(), off); err != nil {
					t.Fatal(err)
				}
			}
			ended, _ := h.store.Revocations(t.Context(), 0, 10)
			if app, err := h.store.App(t.Context(), record.App.ClientID); err != nil || !app.Disabled || len(ended) == 0 ||
				ended[0].ID != app.ID || ended[0].Kind != driver.RevokeApp {
				t.Errorf("dead at write %d: the application is %+v, %v; revoked: %v", n, app, err, ended)
			}
			h.run(t)
			if app, err := h.store.App(t.Context(), record.App.ClientID); err != nil || app.Disabled {
				t.Errorf("with the demo again the application is %+v, %v", app, err)
			}
		}
	}
}

func TestFirstRunThatIsTakenUpWithoutTheDemoLeavesNoneThatOpens(t *testing.T) {
	h := newFixture(t)
	h.dying.left = 2 // the first is of the names that are taken
	if _, err := Run(t.Context(), h.config()); err == nil {
		t.Fatal("it did not die")
	}
	h.dying.left = -1
	off := h.config()
	off.Demo = false
	r, err := Run(t.Context(), off)
	if err != nil || r.Made == nil || r.Made.App != nil {
		t.Fatalf("Run() = %+v, %v", r, err)
	}
	if apps, _, _ := h.store.Apps(t.Context(), "", "", 10); len(apps) != 0 {
		t.Errorf("the applications are %v", apps)
	}
}

func TestApplicationThatAnOperatorDisabledStaysSo(t *testing.T) {
	h := newFixture(t)
	record := h.run(t)
	app, err := h.store.App(t.Context(), record.App.ClientID)
	if err != nil {
		t.Fatal(err)
	}
	app.Disabled = true
	if _, err := h.store.SaveApp(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	for _, on := range []bool{false, true} {
		c := h.config()
		c.Demo = on
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if app, _ = h.store.App(t.Context(), app.ID); !app.Disabled {
		t.Error("a start has enabled it")
	}
}
