// Package traced tells OpenTelemetry of the steps of a store.
//
//	store, err := storage.Open(ctx, traced.New(backend), key)
//
// Each step that is made within a recorded span is a span of kind client below it: its name is that of the step
// and the kind of its documents, such as "Get app", and nothing of what is in them is told. Steps within no span,
// such as those that sweep, are not recorded, and cost no allocation.
package traced
