// Package system shows what the service consists of: the processes that serve from the store, their
// keys and settings.
package system
