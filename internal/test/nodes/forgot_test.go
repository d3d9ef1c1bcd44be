package nodes

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// A failover to a replica that was behind: the database has lost what it had acknowledged.
func TestRevocationThatTheDatabaseHasLostHoldsWhereItWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		here, there := all.node(), all.node()
		bearer, other := here.bearer(), here.machine()
		time.Sleep(time.Second)
		before := all.database.moment()
		here.revoke(bearer)
		time.Sleep(time.Second)
		synctest.Wait()
		there.want(401, bearer, "seen by both nodes")
		all.database.rewind(before)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		noticed := uint64(0)
		for name, n := range map[string]*node{"here": here, "there": there} {
			n.want(401, bearer, name+", after the database has lost it")
			n.want(200, other, name+", a token that nobody has revoked")
			feed := n.Tokens.Feed()
			if lines := n.log.lines("as after a failover"); uint64(lines) != feed.Regressions || feed.Err != nil {
				t.Errorf("%s the feed is %+v, and %d lines are logged about it", name, feed, lines)
			}
			noticed += feed.Regressions
		}
		if noticed < 1 || noticed > 2 { // the second may find it stored again by the first
			t.Errorf("%d nodes have noticed the loss", noticed)
		}
		third := all.node()
		third.want(401, bearer, "at a node that has never seen it: the others have stored it again")
	})
}

// The numbers of what was lost are given again, to other revocations.
func TestRevocationIsSeenAfterTheDatabaseHasLostItsLastWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		here, there := all.node(), all.node()
		first, second, third := here.machine(), here.machine(), here.machine()
		time.Sleep(time.Second)
		before := all.database.moment()
		here.revoke(first)
		here.revoke(second)
		time.Sleep(time.Second)
		synctest.Wait()
		all.database.rewind(before)
		here.revoke(third) // has the number of the first
		here.revoke(first) // has that of the second
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for what, bearer := range map[string]string{"the first": first, "the second": second, "the third": third} {
			there.want(401, bearer, what)
		}
	})
}

func TestDocumentThatTheDatabaseHasLostIsNotBelievedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		here, there := all.node(), all.node()
		bearer := here.bearer()
		time.Sleep(time.Second)
		before := all.database.moment()
		here.saveApp(func(a *storage.App) { a.Disabled = true })
		time.Sleep(time.Second)
		synctest.Wait()
		there.want(401, bearer, "while the application is disabled")
		all.database.rewind(before)
		time.Sleep(time.Second)
		synctest.Wait()
		there.want(200, bearer, "once the database has lost that")
		if feed := there.Tokens.Feed(); feed.Regressions != 1 || feed.Err != nil {
			t.Errorf("the feed is %+v, want 1 regression", feed)
		}
	})
}

// Nothing is accepted between the moment at which the loss is noticed and that at which all has been
// read anew.
func TestRestoredDatabaseIsTrustedOnlyAfterRereadingAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newCluster(t)
		n := all.node()
		bearer, other := n.machine(), n.bearer()
		time.Sleep(time.Second)
		before := all.database.moment()
		n.saveApp(func(a *storage.App) { a.Name = "Lost" })
		n.revoke(bearer)
		time.Sleep(1300 * time.Millisecond)
		all.database.rewind(before)
		n.link.away("Revocations", errAway)
		time.Sleep(time.Second)
		synctest.Wait()
		n.want(503, other, "lost, and not read anew, although the last good read is young")
		if err := n.Ready(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Ready() = %v, want ErrUnavailable", err)
		}
		n.link.away("Revocations", nil)
		time.Sleep(time.Second)
		synctest.Wait()
		n.want(200, other, "read anew")
		n.want(401, bearer, "what was revoked before")
		if feed := n.Tokens.Feed(); feed.Regressions != 1 {
			t.Errorf("the feed is %+v, want 1 regression", feed)
		}
	})
}
