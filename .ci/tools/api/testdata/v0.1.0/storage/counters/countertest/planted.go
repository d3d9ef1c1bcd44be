package planted // import "github.com/keystile/keystile/storage/counters/countertest/planted"

import "github.com/keystile/keystile/storage/counters/countertest"
import "testing"

func Run(t *testing.T, open func(t testing.TB) countertest.Service)

func RunInBubble(t *testing.T, open func(t testing.TB) countertest.Service)
