package lint // import "github.com/keystile/keystile/registry/lint"

import "context"

func Check(ctx context.Context, document []byte) []string
