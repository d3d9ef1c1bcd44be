// Package lasthop has the words for what the service that answers a call learns of its caller (decision 122): the
// settings of a capability or a product, and what a statement about a caller is signed for. Packages gateway, mcpbus,
// registry and oauth have them in common.
package lasthop
