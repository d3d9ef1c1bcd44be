package console

import "github.com/keystile/keystile/gateway/console/internal/ui"

// Parts returns what a console serves: the table that its server is made of.
func Parts(s *Console) []ui.Part { return s.parts() }
