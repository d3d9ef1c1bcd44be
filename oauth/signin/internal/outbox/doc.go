// Package outbox sends emails in the background.
package outbox
