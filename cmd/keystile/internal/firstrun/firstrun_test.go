package firstrun

import (
	"os"
	"regexp"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const base = "http://127.0.0.1:8080"

func TestAnEmptyStoreIsFilledAndThePaperSaysWithWhat(t *testing.T) {
	h := newHouse(t)
	h.dying.before = func() {
		if _, err := os.Stat(h.path); err != nil {
			t.Errorf("a record is made before the paper is there: %v", err)
		}
	}
	paper, err := Run(t.Context(), h.config())
	if err != nil || paper == nil {
		t.Fatalf("Run() = %v, %v", paper, err)
	}
	h.wantComplete(t, paper)
	text, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	shape := regexp.MustCompile(`^{"base_url":"http://127.0.0.1:8080","admin":{"username":"admin","password":"[0-9a-z-]{23}"},` +
		`"app":{"client_id":"ks[0-9a-z]{20}","client_secret":"[\w-]{43}","domains":\["localhost","127.0.0.1"\],"redirect_uri":"http://127.0.0.1:8080/demo/callback"}}$`)
	if !shape.Match(compact(t, text)) {
		t.Errorf("the paper is %s", compact(t, text))
	}
}

func TestTheFirstRunIsOnce(t *testing.T) {
	h := newHouse(t)
	if _, err := Run(t.Context(), h.config()); err != nil {
		t.Fatal(err)
	}
	for _, before := range []func(){func() {}, func() { os.Remove(h.path) }, func() { os.WriteFile(h.path, []byte("mine"), 0o600) }} {
		before()
		if paper, err := Run(t.Context(), h.config()); paper != nil || err != nil {
			t.Errorf("Run() again = %v, %v", paper, err)
		}
	}
	if text, _ := os.ReadFile(h.path); string(text) != "mine" {
		t.Errorf("the reader's own file was overwritten: %s", text)
	}
}

// Whatever write the process dies at, before it or right behind it, the next start
// finishes with what the paper said.
func TestAStartThatWasKilledIsTakenUpByTheNext(t *testing.T) {
	for _, behind := range []bool{false, true} {
		for n := 1; ; n++ {
			h := newHouse(t)
			h.dying.left, h.dying.behind = n, behind
			paper, err := Run(t.Context(), h.config())
			if err == nil {
				if n < 4 {
					t.Fatalf("the first run has only %d writes: the test looks at the wrong thing", n-1)
				}
				break
			}
			if paper == nil || h.dying.left != 0 {
				t.Fatalf("dying at write %d: Run() = %v, %v", n, paper, err)
			}
			h.dying.left = -1
			c := h.config()
			c.BaseURL = "http://127.0.0.1:9090"
			again, err := Run(t.Context(), c)
			// Behind the last write there was nothing left to do, and nothing is said twice.
			if done := behind && again == nil; err != nil || again == nil && !done {
				t.Fatalf("after dying at write %d: Run() = %v, %v", n, again, err)
			}
			kept, err := read(h.path)
			if err != nil || kept.Admin != paper.Admin || kept.App.ClientSecret != paper.App.ClientSecret || kept.BaseURL != c.BaseURL {
				t.Errorf("after dying at write %d the paper is %+v, %v; was %+v", n, kept, err, paper)
			}
			h.wantComplete(t, kept)
		}
	}
}

func TestAPaperWithoutARecordIsEnoughToStartFrom(t *testing.T) {
	h := newHouse(t)
	drawn := new(Record)
	drawn.draw(base, true)
	if err := drawn.write(h.path); err != nil {
		t.Fatal(err)
	}
	paper, err := Run(t.Context(), h.config())
	if err != nil || paper.Admin != drawn.Admin || paper.App.ClientID != drawn.App.ClientID {
		t.Errorf("Run() = %+v, %v; want %+v", paper, err, drawn)
	}
	h.wantComplete(t, drawn)
}

func TestADamagedPaperStopsAFirstRunThatIsNotDone(t *testing.T) {
	h := newHouse(t)
	os.WriteFile(h.path, []byte("{"), 0o600)
	if _, err := Run(t.Context(), h.config()); err == nil {
		t.Error("it went on with another password than the paper's")
	}
}

func TestAStoreThatCommandsHaveFilledGetsNoAdministrator(t *testing.T) {
	h := newHouse(t)
	if _, err := h.users.Create(t.Context(), storage.User{Username: "ada", Role: storage.RoleAdmin}, "correct horse"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if paper, err := Run(t.Context(), h.config()); paper != nil || err != nil {
			t.Fatalf("Run() = %v, %v", paper, err)
		}
	}
	apps, _, _ := h.store.Apps(t.Context(), "", "", 10)
	if users, _, _ := h.store.Users(t.Context(), "", 10); len(users) != 1 || len(apps) != 1 || apps[0].Owner != "" {
		t.Errorf("users %v, applications %v; want ada alone, and the demo of nobody's", users, apps)
	}
}

func TestThePaperFollowsTheBaseURL(t *testing.T) {
	h := newHouse(t)
	first, err := Run(t.Context(), h.config())
	if err != nil {
		t.Fatal(err)
	}
	c := h.config()
	c.BaseURL = "https://id.example.com"
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	kept, err := read(h.path)
	if err != nil || kept.BaseURL != c.BaseURL || kept.App.RedirectURI != "https://id.example.com/demo/callback" || kept.Admin != first.Admin {
		t.Errorf("the paper is %+v, %v", kept, err)
	}
	h.wantComplete(t, kept)
}

func TestWithoutTheDemoThereIsNoApplication(t *testing.T) {
	h := newHouse(t)
	c := h.config()
	c.Demo = false
	paper, err := Run(t.Context(), c)
	apps, _, _ := h.store.Apps(t.Context(), "", "", 10)
	if err != nil || paper.App != nil || len(apps) != 0 {
		t.Fatalf("Run() = %+v, %v; applications %v", paper, err, apps)
	}
	if _, err := Run(t.Context(), h.config()); err != nil {
		t.Fatal(err)
	}
	if apps, _, _ := h.store.Apps(t.Context(), "", "", 10); len(apps) != 1 || apps[0].Owner != "" {
		t.Errorf("switched on later, the demo has %v", apps)
	}
}

// Whatever write the start dies at, the next one ends what it began.
func TestWithoutTheDemoItsApplicationOpensNothing(t *testing.T) {
	for _, behind := range []bool{false, true} {
		for n := 1; n <= 4; n++ {
			h := newHouse(t)
			paper, err := Run(t.Context(), h.config())
			if err != nil {
				t.Fatal(err)
			}
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
			if app, err := h.store.App(t.Context(), paper.App.ClientID); err != nil || !app.Disabled || len(ended) == 0 || ended[0].ID != app.ID || ended[0].Kind != driver.RevokeApp {
				t.Errorf("dead at write %d: the application is %+v, %v; revoked: %v", n, app, err, ended)
			}
			if _, err := Run(t.Context(), h.config()); err != nil {
				t.Fatal(err)
			}
			if app, err := h.store.App(t.Context(), paper.App.ClientID); err != nil || app.Disabled {
				t.Errorf("with the demo again the application is %+v, %v", app, err)
			}
		}
	}
}

func TestAFirstRunThatIsTakenUpWithoutTheDemoLeavesNoneThatOpens(t *testing.T) {
	h := newHouse(t)
	h.dying.left = 1
	paper, err := Run(t.Context(), h.config())
	if err == nil {
		t.Fatal("it did not die")
	}
	h.dying.left = -1
	off := h.config()
	off.Demo = false
	if _, err := Run(t.Context(), off); err != nil {
		t.Fatal(err)
	}
	if app, err := h.store.App(t.Context(), paper.App.ClientID); err != nil || !app.Disabled {
		t.Errorf("the application is %+v, %v", app, err)
	}
}

func TestAnApplicationThatAnOperatorDisabledStaysSo(t *testing.T) {
	h := newHouse(t)
	paper, err := Run(t.Context(), h.config())
	if err != nil {
		t.Fatal(err)
	}
	app, err := h.store.App(t.Context(), paper.App.ClientID)
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

func TestPasswordsHaveAHundredBits(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		p := drawPassword()
		if seen[p] || !regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{5}(-[0-9a-hjkmnp-tv-z]{5}){3}$`).MatchString(p) {
			t.Fatalf("drawPassword() = %q", p)
		}
		seen[p] = true
	}
	letter := map[rune]bool{}
	for _, l := range letters {
		letter[l] = true
	}
	if len(letter) != 32 {
		t.Errorf("%d different letters, want 32: 5 bits each", len(letter))
	}
}
