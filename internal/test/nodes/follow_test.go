package nodes

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
)

// change is something that one node does and another one has to know of.
type change struct {
	name   string
	untold bool          // nobody tells of it: users may be in a table of the host's
	before func(n *node) // nil: nothing has to be there
	do     func(n *node, bearer string)
	// holds reports whether it holds at a node.
	holds func(n *node, bearer string) bool
}

func (n *node) saveApp(edit func(*storage.App)) {
	n.cluster.Helper()
	a := must(n.Store.App(n.cluster.Context(), n.cluster.app.ID))(n.cluster)
	edit(&a)
	must(n.Store.SaveApp(n.cluster.Context(), a))(n.cluster)
}

func (n *node) refuses(bearer string) bool { return n.get("/ai/x", bearer).Code == 401 }

var changesOfOthers = []change{
	{name: "a revoked token", do: (*node).revoke, holds: (*node).refuses},
	{name: "a disabled application", do: func(n *node, _ string) { n.saveApp(func(a *storage.App) { a.Disabled = true }) },
		holds: (*node).refuses},
	{name: "a removed application", do: func(n *node, _ string) {
		a := must(n.Store.App(n.cluster.Context(), n.cluster.app.ID))(n.cluster)
		if err := n.Store.DeleteApp(n.cluster.Context(), a, storage.Quota{}); err != nil {
			n.cluster.Fatal(err)
		}
	}, holds: (*node).refuses},
	{name: "another tier", do: func(n *node, _ string) {
		n.saveApp(func(a *storage.App) { a.SetTier(storage.TierEnterprise, time.Now(), time.Time{}) })
	}, holds: func(n *node, bearer string) bool {
		return strings.Contains(n.get("/api/v1/verify", bearer).Body.String(), `"tier":"enterprise"`)
	}},
	{name: "a retired key", do: func(n *node, _ string) {
		for range 2 { // the key that has signed the token is retired by the first
			must(token.Rotate(n.cluster.Context(), n.Store, token.ES256, time.Hour))(n.cluster)
		}
		for _, k := range must(n.Store.SigningKeys(n.cluster.Context()))(n.cluster) {
			if k.State == storage.KeyRetired {
				if err := token.Retire(n.cluster.Context(), n.Store, k.ID, time.Now()); err != nil {
					n.cluster.Fatal(err)
				}
			}
		}
	}, holds: (*node).refuses},
	{name: "a hidden capability", do: func(n *node, _ string) {
		c, tools, err := n.Store.Tools(n.cluster.Context(), "pets")
		if c.Publish = false; err == nil {
			_, err = n.Store.SaveCapability(n.cluster.Context(), c, tools)
		}
		must(0, err)(n.cluster)
	}, holds: func(n *node, bearer string) bool { return !n.hasTools(bearer) }},
	{name: "an access list", do: func(n *node, _ string) {
		must(n.Store.SaveAccess(n.cluster.Context(), access.List{Member: "pets",
			Rules: []access.Rule{{Subject: "everyone", Deny: true}}}))(n.cluster)
	}, holds: func(n *node, bearer string) bool { return !n.hasTools(bearer) }},
	{name: "a bundle", do: func(n *node, _ string) {
		must(n.Store.SaveBundle(n.cluster.Context(), access.Bundle{Name: "vet", Tools: []string{"pets__get"}}))(n.cluster)
	}, holds: func(n *node, bearer string) bool {
		return n.call("POST", "/api/mcp/b/vet", bearer, listTools).Code != 404
	}},
	{name: "a setting", do: func(n *node, _ string) {
		// Only the owner, who the application by itself is not.
		if err := n.Store.Set(n.cluster.Context(), storage.SettingDefaultAccess, storage.AccessOwner); err != nil {
			n.cluster.Fatal(err)
		}
	}, holds: func(n *node, _ string) bool { return !n.hasTools(n.machine()) }},
	{name: "a disabled user", do: func(n *node, _ string) { n.saveUser(func(u *storage.User) { u.Disabled = true }) },
		holds: func(n *node, bearer string) bool { return n.get("/oauth/userinfo", bearer).Code == 401 }},
	{name: "a user's new name",
		do: func(n *node, _ string) { n.saveUser(func(u *storage.User) { u.Nickname = "Countess" }) },
		holds: func(n *node, bearer string) bool {
			return strings.Contains(n.get("/oauth/userinfo", bearer).Body.String(), `"nickname":"Countess"`)
		}},
}

// machine returns a token of the application itself.
func (n *node) machine() string {
	n.cluster.Helper()
	w := n.form("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "scope": {"tools"}})
	var body struct {
		Token string `json:"access_token"`
	}
	must(0, json.Unmarshal(w.Body.Bytes(), &body))(n.cluster)
	return body.Token
}

func TestFollowSeesChangesOfAnotherNodeWithinASecond(t *testing.T) {
	for _, c := range slices.Concat(changesOfOthers, moreChanges) {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newCluster(t)
				here, there := all.node(), all.node()
				bearer := here.bearer()
				if c.before != nil {
					c.before(here)
					wait(2 * time.Second)
				}
				if c.holds(there, bearer) {
					t.Fatal("it holds before it is done")
				}
				time.Sleep(time.Minute + 300*time.Millisecond) // between two reads
				synctest.Wait()
				c.holds(there, bearer) // what it reads is young
				c.do(here, bearer)
				time.Sleep(time.Second)
				synctest.Wait()
				if !c.holds(there, bearer) {
					t.Error("a second later it does not hold at the other node")
				}
			})
		})
	}
}

// Two reads are a tenth of a second apart, however many changes are told of.
func TestFollowSeesHintsOfAnotherNodeAtOnce(t *testing.T) {
	for _, c := range slices.Concat(changesOfOthers, moreChanges) {
		if c.untold {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newCluster(t)
				here, there := all.node(listening), all.node(listening)
				bearer := here.bearer()
				if c.before != nil {
					c.before(here)
					wait(2 * time.Second)
				}
				if c.holds(there, bearer) {
					t.Fatal("it holds before it is done")
				}
				time.Sleep(time.Minute + 300*time.Millisecond)
				synctest.Wait()
				c.holds(there, bearer) // what it reads is young
				c.do(here, bearer)
				time.Sleep(200 * time.Millisecond)
				synctest.Wait()
				if !c.holds(there, bearer) {
					t.Error("a fifth of a second later it does not hold at the other node")
				}
			})
		})
	}
}

// The record is read before it is changed, and the answer comes after the change was told.
func TestAnswerThatWasOvertakenIsNotKept(t *testing.T) {
	for _, c := range []struct {
		name, path string
		change     func(n *node)
	}{
		{"an application", "/ai/x", func(n *node) { n.saveApp(func(a *storage.App) { a.Disabled = true }) }},
		{"a user", "/oauth/userinfo", func(n *node) { n.saveUser(func(u *storage.User) { u.Disabled = true }) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newCluster(t)
				here, there := all.node(), all.node()
				bearer := here.bearer()
				there.get("/ai/x", bearer) // its application is known
				if c.path == "/ai/x" {
					there = all.node()
				}
				time.Sleep(1300 * time.Millisecond)
				release := there.link.hanging("the answer of Get")
				done := make(chan struct{})
				go func() { defer close(done); there.get(c.path, bearer) }()
				synctest.Wait()
				c.change(here)
				time.Sleep(time.Second)
				synctest.Wait()
				release()
				<-done
				if w := there.get(c.path, bearer); w.Code != 401 {
					t.Errorf("after the one that was overtaken it answers %d, want 401", w.Code)
				}
			})
		})
	}
}

func TestFollowReadsOnceForManyHints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		n := all.node(listening)
		time.Sleep(time.Minute)
		synctest.Wait()
		n.link.count()
		for range 1000 {
			all.database.tell()
			time.Sleep(time.Millisecond)
		}
		n.link.state.Lock()
		defer n.link.state.Unlock()
		if reads := n.link.calls["Revocations"]; reads > 12 {
			t.Errorf("1000 hints in a second made %d reads", reads)
		}
	})
}

func TestHintsThatFailAreTriedAgainAndNothingWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		here, there := all.node(), all.node(listening, func(_ *keystile.Config, l *link) { l.away("Listen", errAway) })
		bearer := here.bearer()
		there.want(200, bearer, "before")
		time.Sleep(time.Minute)
		if n := there.log.lines("listening for them failed"); n != 1 {
			t.Errorf("%d lines are logged about it", n)
		}
		there.link.away("Listen", nil)
		time.Sleep(time.Minute + 300*time.Millisecond)
		synctest.Wait()
		there.link.state.Lock()
		listening := there.link.listening
		there.link.state.Unlock()
		if listening != 1 {
			t.Errorf("%d connections listen once they can", listening)
		}
		here.revoke(bearer)
		synctest.Wait()
		there.want(401, bearer, "once it listens")
	})
}

func TestVerifiedBearerCostsNoCallOfASharedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newCluster(t).node()
		bearer := n.bearer()
		n.want(200, bearer, "the first call")
		time.Sleep(1300 * time.Millisecond) // what a start does besides is done
		synctest.Wait()
		n.link.count()
		for range 50 {
			n.want(200, bearer, "a call")
		}
		if calls := n.link.count(); calls != 0 {
			t.Errorf("50 calls made %d calls of the store", calls)
		}
	})
}

// unshared hides that others write to the store.
type unshared struct{ driver.Backend }

// single makes a node of a store that it does not share.
func single(c *keystile.Config, l *link) { c.Backend = unshared{l} }

func TestStoreOfOneProcessIsNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		n := all.node(single)
		bearer := n.bearer()
		n.link.away("Revocations", errAway)
		n.link.count()
		time.Sleep(30 * time.Minute)
		n.want(200, bearer, "after half an hour")
		n.link.state.Lock()
		reads := n.link.calls["Revocations"]
		n.link.state.Unlock()
		if feed := n.Tokens.Feed(); reads != 0 || feed.Shared || feed.Age != 0 || feed.Err != nil {
			t.Errorf("the feed is %+v, and was read %d times", feed, reads)
		}
	})
}

// No goroutine outlives Close, or the bubble would not end.
func TestCloseEndsTheFollowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		for _, broken := range []string{"", "Revocations", "the epochs", "Listen"} {
			n := all.node(listening)
			release := func() {}
			if broken != "" {
				release = n.link.hanging(broken)
			}
			time.Sleep(time.Minute)
			if err := n.Close(context.Background()); err != nil {
				t.Errorf("Close while %q hangs = %v", broken, err)
			}
			n.link.state.Lock()
			if clear(n.link.calls); n.link.listening != 0 {
				t.Errorf("it listens after Close")
			}
			n.link.state.Unlock()
			time.Sleep(time.Minute)
			n.link.state.Lock()
			if len(n.link.calls) > 0 {
				t.Errorf("after Close the store is asked %v", n.link.calls)
			}
			n.link.state.Unlock()
			release()
		}
	})
}

var _ driver.Shared = (*link)(nil)
