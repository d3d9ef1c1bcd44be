// Package gateway is the watch: bearer tokens, rate, quota, usage, tiers, billing, audit and CORS; /api/v1/*.
//
// Nothing of it is built yet. Its place in the import law is: see internal/house.
package gateway
