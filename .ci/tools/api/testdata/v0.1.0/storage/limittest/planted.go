package planted // import "github.com/keystile/keystile/storage/limittest/planted"

import "github.com/keystile/keystile/storage/limittest"
import "testing"

func Run(t *testing.T, open func(t testing.TB) limittest.Service)

func RunInBubble(t *testing.T, open func(t testing.TB) limittest.Service)
