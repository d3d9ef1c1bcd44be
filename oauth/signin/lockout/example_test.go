package lockout_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/keystile/keystile/oauth/signin/lockout"
)

// A page of the host's own, which asks for something that can be guessed.
func Example() {
	guard := lockout.New(lockout.Config{Failures: 2, Within: time.Minute, For: time.Hour})
	client := netip.MustParseAddr("203.0.113.7")
	for _, guess := range []string{"1111", "2222", "4711"} {
		if wait := guard.Begin(client); wait > 0 {
			fmt.Println("429, and Retry-After about", wait.Round(time.Minute))
			continue
		}
		right := guess == "4711"
		guard.End(client, !right)
		fmt.Println(right)
	}
	// Output:
	// false
	// false
	// 429, and Retry-After about 1h0m0s
}
