package limit

import (
	"fmt"
	"time"
)

func ExampleLimiter() {
	l, err := New(Config{})
	if err != nil {
		panic(err)
	}
	now := time.Now()
	for range 3 {
		v := l.Allow("203.0.113.7", 2, now)
		fmt.Println(v.OK, v.Remaining, v.RetryAfter)
	}
	// Output:
	// true 1 0s
	// true 0 0s
	// false 0 1m0s
}
