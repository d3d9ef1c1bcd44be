// Package shipper ships the audit trail and usage to the targets of package gateway/stream, which says what a consumer
// can rely on.
package shipper
