// Package adminapi holds what /api/v1/apps, /api/v1/billing and the console's endpoints have
// in common: reading a body, showing applications and orders, writing changes to the audit
// trail and notifying owners. Each of them checks permissions itself.
package adminapi
