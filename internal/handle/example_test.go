package handle_test

import (
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/handle"
)

// The client holds the text; the store, its key alone.
func Example() {
	early := handle.New(handle.RefreshPrefix, time.Unix(1_700_000_000, 0))
	late := handle.New(handle.RefreshPrefix, time.Unix(1_700_000_001, 0))
	a, b := handle.KeyOf(early), handle.KeyOf(late)
	fmt.Println(early[:3], early != late, string(a[:]) < string(b[:])) // keys are in the order of their times
	// Output: rt_ true true
}
