//go:build !unix

package wholefile

// SyncDir does nothing where folders cannot be synced.
func SyncDir(string) error { return nil }
