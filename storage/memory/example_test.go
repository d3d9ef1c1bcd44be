package memory_test

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// A code is exchanged once, whatever client asks.
func Example() {
	ctx := context.Background()
	b := memory.New()
	defer b.Close()
	at := driver.Token{Key: driver.Key{1}, Kind: driver.KindCode, Grant: "g1"}
	fmt.Println(b.Issue(ctx, at))
	refresh := driver.Token{Key: driver.Key{2}, Kind: driver.KindRefresh, Grant: "g1"}
	fmt.Println(b.Exchange(ctx, driver.Key{1}, time.Now(), refresh))
	fmt.Println(b.Exchange(ctx, driver.Key{1}, time.Now(), refresh))
	// Output:
	// <nil>
	// <nil>
	// storage: token spent
}
