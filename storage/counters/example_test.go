package counters_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// An application that may do two requests in any minute.
func ExampleNewLimiter() {
	ctx, now := context.Background(), time.Now()
	limiter := counters.NewLimiter()
	for _, after := range []time.Duration{0, 10 * time.Second, 20 * time.Second, time.Minute} {
		v := limiter.Allow(ctx, "ks1", 2, now.Add(after))
		fmt.Println(after, v.OK, v.Remaining, v.RetryAfter)
	}
	// Output:
	// 0s true 1 0s
	// 10s true 0 0s
	// 20s false 0 40s
	// 1m0s true 0 0s
}

// A page of the host's own, which asks for something that can be guessed.
func ExampleNewAddresses() {
	ctx, client := context.Background(), netip.MustParseAddr("203.0.113.7")
	failures := counters.NewAddresses(counters.Lock{Failures: 2, Within: time.Minute, For: time.Hour})
	for _, guess := range []string{"1111", "2222", "4711"} {
		if wait := failures.Begin(ctx, client); wait > 0 {
			fmt.Println("429, and Retry-After about", wait.Round(time.Minute))
			continue
		}
		right := guess == "4711"
		failures.End(ctx, client, !right)
		fmt.Println(right)
	}
	// Output:
	// false
	// false
	// 429, and Retry-After about 1h0m0s
}
