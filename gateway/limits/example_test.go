package limits_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/keystile/keystile/gateway/limits"
)

// An application that may do two requests in any minute.
func Example() {
	ctx, now := context.Background(), time.Now()
	limiter, err := limits.New()
	if err != nil {
		log.Fatal(err)
	}
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
