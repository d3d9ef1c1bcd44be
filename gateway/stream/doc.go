// Package stream ships what the store collects to where others keep it: the audit trail and usage, as JSON
// lines, to a store of objects (package s3 below), to standard output, or to a Target of the host's own.
package stream
