// Package rp lets other people's relying parties in Go sign in at a whole service, unmodified and with their defaults:
// libraries, and oauth2-proxy as a program. It holds tests only, and is a module of its own, so that nobody who imports
// Keystile gets their dependencies. Package clients has those of other languages.
package rp
