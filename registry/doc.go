// Package registry is the scribe: OpenAPI documents become tools; /api/console/capabilities/*.
//
// Nothing of it is built yet. Its place in the import law is: see internal/house.
package registry
