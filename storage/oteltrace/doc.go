// Package oteltrace tells OpenTelemetry of the steps of a store.
//
//	store, err := storage.Open(ctx, oteltrace.New(backend), key)
//
// Each step that is made within a recorded span is a span of kind client below it: its name is that of the step
// and the kind of its documents, such as "Get app", and nothing of what is in them is told. Steps within no span,
// such as those that sweep, are not recorded, and cost no allocation.
//
// # Choices
//
// It wraps a Backend and not a Store, so that the cost of a step is seen for every adapter. The optional powers of
// the adapter (Gatherer, Picker, Meters, Shared) work through the wrapper.
//
// An id, an index entry or an error's text may hold somebody's name, so none of them is in a span.
package oteltrace
