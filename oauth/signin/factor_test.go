package signin

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// secondSecret is the secret of Mina's authenticator app.
const secondSecret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

// codeNow returns what the app of a secret shows (RFC 6238), some steps of 30 seconds from now.
func codeNow(secret string, steps int64) string {
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(time.Now().Unix()/30+steps)))
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0x0f
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:])&0x7fffffff%1_000_000)
}

// factorFixture is a service in which Mina has an authenticator app and recovery codes.
type factorFixture struct {
	*fixture
	recovery []string
}

func newFactorFixture(t *testing.T, change func(*Config)) *factorFixture {
	f := &factorFixture{fixture: newFixture(t, change)}
	shown, kept := factor.DrawRecovery()
	f.recovery = shown
	_, err := f.store.SaveFactors(context.Background(), storage.Factors{
		UserID: f.mina.Sub, Authenticator: &authn.Authenticator{CreatedAt: time.Now().UTC()},
		AppSecret: storage.NewSecret(secondSecret), Recovery: kept,
	})
	must(t, err)
	return f
}

// browser holds the cookies of one browser.
type browser struct {
	f    *fixture
	jar  map[string]string
	from string // its address; "": that of all tests
}

func newBrowser(f *fixture) *browser { return &browser{f: f, jar: map[string]string{}} }

func (b *browser) do(r *http.Request) answer {
	r.Header.Del("Cookie")
	for name, value := range b.jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	if b.from != "" {
		r.RemoteAddr = b.from + ":1234"
	}
	a := b.f.do(r)
	for _, c := range a.Result().Cookies() {
		if c.MaxAge < 0 {
			delete(b.jar, c.Name)
		} else {
			b.jar[c.Name] = c.Value
		}
	}
	return a
}

// form sends a form of ours to a path.
func (b *browser) form(path string, pairs ...string) answer {
	r := post(pairs...)
	r.URL.Path = path
	return b.do(r)
}

// first does the first step.
func (b *browser) first(pairs ...string) answer {
	return b.form(web.FormPath, append([]string{"username", "mina", "password", password}, pairs...)...)
}

func (b *browser) session() (storage.Session, bool) {
	r := get("/")
	for name, value := range b.jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	v, err := b.f.Visitor(r)
	return v, err == nil
}

func TestSecondFactorIsAskedForAndEndsTheSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFactorFixture(t, nil)
		b := newBrowser(f.fixture)
		a := b.first("query", "client_id=x&state=1")
		if _, in := b.session(); a.Code != 303 || a.Header().Get("Location") != factor.Path || in {
			t.Fatalf("the first step = %d to %q, signed in %v; want the page of the second", a.Code, a.Header().Get("Location"),
				in)
		}
		page := b.do(get(factor.Path))
		if page.Code != 200 || !strings.Contains(page.Body.String(), "authenticator app") {
			t.Fatalf("the page = %d\n%s", page.Code, page.Body)
		}
		if a := b.form(factor.Path, "code", "000000"); a.Code != 401 {
			t.Errorf("a wrong code = %d, want 401", a.Code)
		}
		a = b.form(factor.Path, "code", codeNow(secondSecret, 0))
		v, in := b.session()
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?client_id=x&state=1" || !in {
			t.Fatalf("the second step = %d to %q, signed in %v", a.Code, a.Header().Get("Location"), in)
		}
		if v.AMR != "pwd otp mfa" || v.LoginType != "self" || factor.LevelOf(v) != factor.LevelMulti {
			t.Errorf("the session = %+v, want pwd otp mfa of self", v)
		}
		again := newBrowser(f.fixture)
		again.first()
		if a := again.form(factor.Path, "code", codeNow(secondSecret, 0)); a.Code != 401 {
			t.Errorf("the same code again = %d, want 401", a.Code)
		}
		time.Sleep(30 * time.Second)
		if a := again.form(factor.Path, "code", codeNow(secondSecret, 0)); a.Code != 303 {
			t.Errorf("the next code = %d, want 303", a.Code)
		}
	})
}
