package mcpbus

// What tests outside of the package say to it.
var (
	FromREST      = fromREST
	BundlePaths   = bundlePaths
	MetadataPaths = metadataPaths
)

// CallsKept is how many ids of calls the bus remembers, to cancel them by.
func (b *Bus) CallsKept() int {
	b.cancellable.mu.Lock()
	defer b.cancellable.mu.Unlock()
	return len(b.cancellable.calls)
}
