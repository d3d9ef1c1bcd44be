// Package manage holds what /api/v1/apps, /api/v1/billing and the console's endpoints have
// in common: how a body is read, how applications and orders are shown, and how what was
// done to one is written on the audit trail and told to its owner. Who may do what is for
// each of them to say.
package manage
