package signin

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/passkey"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// passkeyAttacks holds sign-ins by something that is no passkey of Mina's, here and now.
var passkeyAttacks = map[string]func(f *passkeyFixture, b *browser) answer{
	"another origin": func(f *passkeyFixture, b *browser) answer {
		f.device.origin = "https://id.example.com.evil.example"
		return b.signInBy(f.device)
	},
	"another port": func(f *passkeyFixture, b *browser) answer {
		f.device.origin = "https://id.example.com:8443"
		return b.signInBy(f.device)
	},
	"another relying party": func(f *passkeyFixture, b *browser) answer {
		f.device.rp = "example.com"
		return b.signInBy(f.device)
	},
	"the user was not verified": func(f *passkeyFixture, b *browser) answer {
		f.device.flags = present
		return b.signInBy(f.device)
	},
	"the user was not present": func(f *passkeyFixture, b *browser) answer {
		f.device.flags = verified
		return b.signInBy(f.device)
	},
	"a backup that is not eligible": func(f *passkeyFixture, b *browser) answer {
		f.device.flags |= backedUp
		return b.signInBy(f.device)
	},
	"a backup that is eligible now": func(f *passkeyFixture, b *browser) answer {
		f.device.flags |= eligible | backedUp
		return b.signInBy(f.device)
	},
	"another key": func(f *passkeyFixture, b *browser) answer {
		f.device.key = newAuthenticator(f.t).key
		return b.signInBy(f.device)
	},
	"an id that nobody has": func(f *passkeyFixture, b *browser) answer {
		f.device.id = []byte("nobody has this one")
		return b.signInBy(f.device)
	},
	"a user that nobody is": func(f *passkeyFixture, b *browser) answer {
		f.device.user = "unobody"
		return b.signInBy(f.device)
	},
	"no user": func(f *passkeyFixture, b *browser) answer {
		f.device.user = ""
		return b.signInBy(f.device)
	},
	"a user handle that is no text": func(f *passkeyFixture, b *browser) answer {
		f.device.user = "\xff\x00" + strings.Repeat("x", 100)
		return b.signInBy(f.device)
	},
	"a challenge of another browser": func(f *passkeyFixture, b *browser) answer {
		o, _ := newBrowser(f.fixture).begin(web.PasskeyPath + "/begin")
		b.begin(web.PasskeyPath + "/begin")
		return b.form(web.PasskeyPath, "assertion", f.device.prove(o))
	},
	"a challenge without a browser": func(f *passkeyFixture, b *browser) answer {
		o, _ := newBrowser(f.fixture).begin(web.PasskeyPath + "/begin")
		return b.form(web.PasskeyPath, "assertion", f.device.prove(o))
	},
	"a challenge that was made up": func(f *passkeyFixture, b *browser) answer {
		b.begin(web.PasskeyPath + "/begin")
		return b.form(web.PasskeyPath, "assertion", f.device.prove(options{Challenge: b64(make([]byte, 56))}))
	},
	"a challenge that has ended": func(f *passkeyFixture, b *browser) answer {
		o, _ := b.begin(web.PasskeyPath + "/begin")
		time.Sleep(10*time.Minute + time.Second)
		return b.form(web.PasskeyPath, "assertion", f.device.prove(o))
	},
	"a challenge of the second factor": func(f *passkeyFixture, b *browser) answer {
		b.first()
		o, _ := b.begin(web.PasskeySecondPath + "/begin")
		return b.form(web.PasskeyPath, "assertion", f.device.prove(o))
	},
	"a challenge for a new passkey": func(f *passkeyFixture, b *browser) answer {
		o, _ := f.b.begin(passkey.Path + "/begin")
		b.begin(web.PasskeyPath + "/begin")
		return b.form(web.PasskeyPath, "assertion", f.device.prove(o))
	},
	"an answer that was given before": func(f *passkeyFixture, b *browser) answer {
		o, _ := b.begin(web.PasskeyPath + "/begin")
		text := f.device.prove(o)
		if a := b.form(web.PasskeyPath, "assertion", text); a.Code != 303 {
			f.t.Errorf("the first time = %d", a.Code)
		}
		delete(b.jar, "open_sso_token")
		return b.form(web.PasskeyPath, "assertion", text)
	},
	"an answer to the making of one": func(f *passkeyFixture, b *browser) answer {
		o, _ := b.begin(web.PasskeyPath + "/begin")
		return b.form(web.PasskeyPath, "assertion", f.device.make(options{Challenge: o.Challenge}))
	},
	"text that is no answer": func(f *passkeyFixture, b *browser) answer {
		b.begin(web.PasskeyPath + "/begin")
		return b.form(web.PasskeyPath, "assertion", `{"id":1}`)
	},
	"nothing": func(f *passkeyFixture, b *browser) answer { return b.form(web.PasskeyPath) },
	"deep text": func(f *passkeyFixture, b *browser) answer {
		return b.form(web.PasskeyPath, "assertion", strings.Repeat(`{"response":`, 2000))
	},
	"a user who was disabled": func(f *passkeyFixture, b *browser) answer {
		u, err := f.store.User(context.Background(), f.mina.Sub)
		must(f.t, err)
		u.Disabled = true
		_, err = f.store.SaveUser(context.Background(), u)
		must(f.t, err)
		return b.signInBy(f.device)
	},
}

// A program that begins to sync its passkeys has not guessed.
func TestPasskeyThatIsBackedUpSinceIsNoGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		before := f.device.flags
		f.device.flags |= eligible | backedUp
		for i := range 30 {
			a := newBrowser(f.fixture).signInBy(f.device)
			if a.Code != 401 || !strings.Contains(a.Body.String(), "add it again") {
				t.Fatalf("try %d = %d: %s", i, a.Code, a.Body)
			}
			b := newBrowser(f.fixture)
			b.first()
			if a := b.secondBy(f.device); a.Code != 401 || !strings.Contains(a.Body.String(), "add it again") {
				t.Fatalf("try %d as a second factor = %d: %s", i, a.Code, a.Body)
			}
		}
		f.device.flags = before
		if a := newBrowser(f.fixture).signInBy(f.device); a.Code != 303 {
			t.Errorf("as it was added = %d", a.Code)
		}
		f.device.flags |= eligible
		f.device.key = newAuthenticator(t).key
		if a := newBrowser(f.fixture).signInBy(f.device); a.Code != 401 || strings.Contains(a.Body.String(), "add it again") {
			t.Errorf("another key = %d: %s", a.Code, a.Body)
		}
	})
}

func TestPasskeySignInAcceptsOnlyPasskeysOfTheUser(t *testing.T) {
	for name, attack := range passkeyAttacks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newPasskeyFixture(t, nil)
				b := newBrowser(f.fixture)
				a := attack(f, b)
				if _, in := b.session(); a.Code != 401 || in {
					t.Errorf("%d, signed in %v; want 401: %s", a.Code, in, a.Body)
				}
			})
		})
	}
}

func TestAnswerSentFromAnotherSiteIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		for _, path := range []string{web.PasskeyPath + "/begin", web.PasskeyPath, web.PasskeySecondPath + "/begin",
			web.PasskeySecondPath, passkey.Path + "/begin", passkey.Path, passkey.Path + "/rename", passkey.Path + "/end"} {
			r := post("assertion", "x")
			r.URL.Path = path
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			if a := f.b.do(r); a.Code != 403 {
				t.Errorf("%s = %d, want 403", path, a.Code)
			}
		}
	})
}

func TestPasskeyChallengeIsAnsweredOnce(t *testing.T) {
	f := newPasskeyFixture(t, nil)
	b := newBrowser(f.fixture)
	o, _ := b.begin(web.PasskeyPath + "/begin")
	text := f.device.prove(o)
	var in atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r := post("assertion", text)
			r.URL.Path = web.PasskeyPath
			r.AddCookie(&http.Cookie{Name: web.BrowserCookie, Value: b.jar[web.BrowserCookie]})
			if a := f.do(r); a.Code == 303 {
				in.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() != 1 {
		t.Errorf("%d of 20 answers signed in, want 1", in.Load())
	}
}

// A copy is told of, and shuts nobody out: a device that was restored looks the same.
func TestCounterThatDoesNotRiseIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPasskeyFixture(t, nil)
		f.device.counter = 10
		newBrowser(f.fixture).signInBy(f.device)
		f.device.counter = 3
		b := newBrowser(f.fixture)
		if a := b.signInBy(f.device); a.Code != 303 ||
			!strings.Contains(f.log.String(), "counter of a passkey has not risen") {
			t.Errorf("a copied passkey = %d, and the log says %s", a.Code, f.log)
		}
	})
}
