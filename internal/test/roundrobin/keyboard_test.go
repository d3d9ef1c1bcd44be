package roundrobin

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

const (
	composed   = "fünf Bäume"             // as a keyboard on Windows writes it
	decomposed = "fu\u0308nf Ba\u0308ume" // as one on macOS may

	// hashOfDecomposed is one that a version before 0.2 has made.
	hashOfDecomposed = "$argon2id$v=19$m=64,t=1,p=1$F+I+/X6sUVkIWoPcbrSlsg$xmsolT9phWU1UVV4wUkd+SjDu/VMMXPSckl6ko8nnas"
)

// enters signs a new browser in by a password, and reports whether that was right.
func (c *cluster) enters(name, typed string) bool {
	p := c.person()
	p.submit(p.get("/oauth/signin"), "/oauth/signin", "username", name, "password", typed)
	a := p.get("/oauth/account")
	return a.status == 200 && !strings.Contains(a.body, `name="password"`)
}

// NIST SP 800-63B 5.1.1.2.
func TestPasswordIsRightOnEachKeyboard(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, p *person) {
		p.submit(p.get("/oauth/signin/signup"), "/oauth/signin/signup", "username", "grace", "password", composed)
		_, err := users.New(c.store, cheap()).Create(t.Context(), storage.User{Username: "alan"}, decomposed)
		must(t, err)
		for _, name := range []string{"grace", "alan"} {
			for _, typed := range []string{composed, decomposed, "ｆünf\u3000Bäume"} {
				if !c.enters(name, typed) {
					t.Errorf("%s does not get in with %+q", name, typed)
				}
			}
			if c.enters(name, "funf Baume") {
				t.Errorf("%s gets in without the dots", name)
			}
		}
		a := p.submit(p.get("/oauth/signin/password"), "/oauth/signin/password", "current", decomposed, "password",
			"ｚｗölf Bäume")
		if !c.enters("grace", "zwölf Bäume") || c.enters("grace", composed) {
			t.Errorf("the password is not changed: %d %s", a.status, a.body)
		}
	})
}

func TestPasswordOfAnEarlierVersionStaysRight(t *testing.T) {
	onNodes(t, func(t *testing.T, c *cluster, _ *person) {
		find := func() storage.Login {
			l, err := c.store.Login(t.Context(), storage.LoginSelf, "ada")
			must(t, err)
			return l
		}
		old := find()
		old.PasswordHash = hashOfDecomposed
		_, err := c.store.SaveLogin(t.Context(), old)
		must(t, err)
		if c.enters("ada", composed) {
			t.Error("a hash of one form is that of another")
		}
		if !c.enters("ada", decomposed) {
			t.Error("the password of an earlier version is wrong")
		}
		if now := find().PasswordHash; now == hashOfDecomposed || !strings.HasPrefix(now, "$argon2id$") {
			t.Errorf("the hash is %s", now)
		}
		if !c.enters("ada", composed) || !c.enters("ada", decomposed) {
			t.Error("a renewed hash is not that of both forms")
		}
	})
}

func TestPasswordThatIsWrongInTwoFormsIsOneFailure(t *testing.T) {
	p := newCluster(t, 1).person()
	for i := range 11 {
		want := 401
		if i == 10 { // protocol 8
			want = 429
		}
		if a := p.post("/oauth/signin", "username", "nobody", "password", decomposed); a.status != want {
			t.Fatalf("failure %d = %d, want %d", i+1, a.status, want)
		}
	}
}
