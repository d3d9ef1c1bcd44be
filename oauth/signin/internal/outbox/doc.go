// Package outbox sends emails beside the requests that cause them.
package outbox
