package storagetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func closing() []promise {
	return []promise{
		{name: "after Close every call fails, and with no verdict", lives: func(t testing.TB, open func() driver.Backend) {
			b := open()
			want(t, "Close()", b.Close(), nil)
			for call, err := range everyCall(t.Context(), b) {
				if err == nil || verdict(err) {
					t.Errorf("%s after Close = %v, want an error that is no verdict", call, err)
				}
			}
		}},
		{name: "of 60 times, callers who race with Close are always answered",
			lives: func(t testing.TB, open func() driver.Backend) {
				for round := range 60 {
					closeAmid(t, open(), round)
				}
			}},
	}
}

// everyCall calls each method once, with something to do, and returns its error.
func everyCall(ctx context.Context, b driver.Backend) map[string]error {
	_, token1 := b.Token(ctx, token("a").Key)
	_, revocations := b.Revocations(ctx, 0, 1)
	_, usage := b.Usage(ctx, hours("app"))
	_, records := b.Records(ctx, 0, 1)
	_, get := b.Get(ctx, "thing", "a")
	_, _, list := b.List(ctx, "thing", driver.Is("a"), 1)
	_, put := b.Put(ctx, doc("a"))
	_, sweep := b.Sweep(ctx, at(0), 1)
	return map[string]error{
		"Issue":       b.Issue(ctx, token("a")),
		"Token":       token1,
		"Exchange":    b.Exchange(ctx, token("a").Key, at(0)),
		"Revoke":      b.Revoke(ctx, grantEnd("a")),
		"Revocations": revocations,
		"Count":       b.Count(ctx, driver.Batch{Node: "node", Seq: 1}, []driver.Count{calls("ai", at(0), 1)}),
		"Usage":       usage,
		"Append":      b.Append(ctx, driver.Record{Data: []byte("a")}),
		"Records":     records,
		"Get":         get,
		"List":        list,
		"Put":         put,
		"Sweep":       sweep,
	}
}

// closeAmid closes a Backend amid callers who stop at their first failure, and returns
// the documents whose writing was answered. The round decides how far the callers are.
func closeAmid(t testing.TB, b driver.Backend, round int) (answered []string) {
	var callers sync.WaitGroup
	var guard sync.Mutex
	began, closed := make(chan bool, 64), make(chan bool)
	for caller := range 6 {
		callers.Go(func() {
			for i := 0; ; i++ {
				late := over(closed)
				id := fmt.Sprintf("%d %d", caller, i)
				if err := anyCall(t.Context(), b, caller, id); err != nil {
					return
				}
				if late {
					t.Errorf("a call after Close = nil, want an error")
					return
				}
				if caller == 0 {
					guard.Lock()
					answered = append(answered, id)
					guard.Unlock()
				}
				select {
				case began <- true:
				default:
				}
			}
		})
	}
	for range round % 16 {
		<-began
	}
	want(t, "Close()", b.Close(), nil)
	close(closed)
	callers.Wait()
	return answered
}

func over(closed chan bool) bool {
	select {
	case <-closed:
		return true
	default:
		return false
	}
}

func anyCall(ctx context.Context, b driver.Backend, caller int, id string) (err error) {
	switch caller {
	case 0:
		_, err = b.Put(ctx, doc(id, "all"))
	case 1:
		err = b.Issue(ctx, token("a"))
	case 2:
		err = b.Revoke(ctx, grantEnd(id))
	case 3:
		err = b.Append(ctx, driver.Record{Data: []byte(id)})
	case 4:
		_, _, err = b.List(ctx, "thing", driver.Is("all"), 9)
	default:
		_, err = b.Revocations(ctx, 0, 9)
	}
	return err
}
