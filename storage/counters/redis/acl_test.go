package redis

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
)

// The rights that doc.go names are enough, and those of other prefixes are not needed.
func TestRightsThatAreNamedAreEnough(t *testing.T) {
	r, name, prefix := raw(t), "limited", "test-acl"
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text2, _ := strings.Cut(string(text), "A user of its own needs:")
	text2, _, _ = strings.Cut(text2, ", on the keys")
	rights := regexp.MustCompile(`\+[@a-z|]+`).FindAllString(text2, -1)
	if len(rights) < 20 {
		t.Fatalf("%q in doc.go", rights)
	}
	args := append([]string{"ACL", "SETUSER", name, "reset", "on", ">secret", "~" + prefix + ":*"}, rights...)
	r.do(args...)
	t.Cleanup(func() { r.do("ACL", "DELUSER", name) })
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, "secret")
	w := newWatch()
	c := openAt(t, u.String(), Options{Prefix: prefix, clock: w.now, tags: 1})
	a, d := c.Addresses(counters.Lock{}), c.Accounts()
	for range 2 {
		for i := range 1_500 { // more than there is place for
			for _, from := range []string{v4(i).String(), v6(i).String()} {
				_, undo := c.Limiter().HoldAddress(ctx, ip(from), 60, w.now())
				undo()
				c.Limiter().HoldAddress(ctx, ip(from), 60, w.now())
				if a.Begin(ctx, ip(from)) == 0 {
					a.End(ctx, ip(from), i%2 == 0)
				}
				c.Counter().Add(ctx, "mails", network.Of(ip(from)), 9, time.Minute)
				c.Counter().Wait(ctx, "mails", network.Of(ip(from)), 9, time.Minute)
			}
			d.FailKnown(ctx, [32]byte{byte(i), byte(i >> 8)})
			c.Limiter().Allow(ctx, "ks1", 200, w.now())
			w.pass(100 * time.Millisecond)
		}
		for range 9 {
			c.Limiter().HoldAddress(ctx, ip("192.0.2.1"), 9, w.now())
		}
		_, undo := c.Limiter().HoldAddress(ctx, ip("192.0.2.1"), 10, w.now())
		undo()
		a.Clear(ctx, ip("192.0.2.1"))
		w.pass(-time.Hour)
	}
	c.wantConnected(t)
	if s := c.Stats(); s.NotUndone > 0 || s.Version == "" {
		t.Errorf("%+v", s)
	}
}
