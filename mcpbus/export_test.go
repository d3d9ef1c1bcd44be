package mcpbus

// Unexported functions that tests outside of the package call.
var (
	FromREST      = fromREST
	BundlePaths   = bundlePaths
	MetadataPaths = metadataPaths
	AppendValue   = appendValue
)

// CallsKept returns how many running calls the bus keeps for cancellation.
func (b *Bus) CallsKept() int {
	b.cancellable.mu.Lock()
	defer b.cancellable.mu.Unlock()
	return len(b.cancellable.calls)
}
