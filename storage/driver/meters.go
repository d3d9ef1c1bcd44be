package driver

import "context"

// Meters is implemented by an adapter that reads the usage of many applications in one call: a page
// of settlements is one read then, and not one for each of them.
type Meters interface {
	// UsageOf returns what Usage returns for each of the applications, which stand in place of the AppID
	// of the question: ascending by AppID, then time, then product. One that is named twice is
	// answered once. There are up to MaxMeters.
	UsageOf(ctx context.Context, apps []string, q UsageQuery) ([]Count, error)
}
